/// A value that people wrote has not the shape it must have.
public struct ShapeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where and what, as a sentence without its full stop.
    public let description: String

    init(_ place: String, _ fault: String) {
        description = place.isEmpty ? fault : "\(place): \(fault)"
    }
}
