/// A JSON value in a file or a request is invalid.
package struct ShapeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    package enum Fault: Hashable, Sendable {
        /// The value is of this kind, and must be an object.
        case notAnObject(kind: String)
        /// A member that is not among the known ones: most likely misspelled.
        case unknown(String, known: [String])
        /// A member of this kind that must have another shape.
        case wrong(String, shape: String, kind: String)
        /// A member is missing.
        case missing(String)
        /// Another fault, as a sentence without its full stop.
        case other(String)
    }

    /// The path of the object, such as `clients[0]`; empty for the whole text.
    package let place: String
    /// What is wrong.
    package let fault: Fault

    /// Describes a fault.
    package init(_ place: String, _ fault: Fault) { (self.place, self.fault) = (place, fault) }

    /// Describes a fault by a sentence without its full stop.
    package init(_ place: String, _ fault: String) { self.init(place, .other(fault)) }

    /// The path and the fault, as a sentence without its full stop.
    package var description: String { place.isEmpty ? "\(fault)" : "\(place): \(fault)" }
}

extension ShapeError.Fault: CustomStringConvertible {
    /// The fault, as a sentence without its full stop.
    package var description: String {
        switch self {
        case .notAnObject(let kind): "must be an object, not \(kind)"
        case .unknown(let name, let known):
            "'\(name)' is not known; known are \(known.joined(separator: ", "))"
        case .wrong(let name, let shape, _): "'\(name)' must be \(shape)"
        case .missing(let name): "'\(name)' is missing"
        case .other(let sentence): sentence
        }
    }
}
