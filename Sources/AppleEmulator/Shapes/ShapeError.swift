/// A JSON value in a file or a control request is invalid.
package struct ShapeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path and the fault, as a sentence without its full stop.
    package let description: String

    init(_ place: String, _ fault: String) {
        description = place.isEmpty ? fault : "\(place): \(fault)"
    }
}
