internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle

/// Reads one object of the configuration strictly. Every error names the member.
struct SettingsReader {
    private let reader: JSONObjectReader
    private let file: String

    /// - Parameter place: the name of the object in messages, such as `server.api`.
    /// - Throws: ``Diagnosis`` if it is not an object, or has other members than `names`.
    init(
        _ json: JSON, at place: String, in file: String, knowing names: [String]
    ) throws(Diagnosis) {
        self.file = file
        reader = try Self.converting(file) { () throws(ShapeError) in
            try JSONObjectReader(json, at: place, knowing: names)
        }
    }

    func text(_ name: String) throws(Diagnosis) -> String? {
        let text: String? = try optional(name)
        guard text?.isEmpty != true else { throw error(name, "must not be empty") }
        return text
    }

    func requiredText(_ name: String) throws(Diagnosis) -> String {
        guard let text = try text(name) else { throw error(name, "is not set") }
        return text
    }

    /// Whether the object has no other member than this one.
    func has(only name: String) -> Bool {
        (reader.json.members ?? []).allSatisfy { $0.name.isExactly(name) }
    }

    func flag(_ name: String) throws(Diagnosis) -> Bool? { try optional(name) }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(Diagnosis) -> Int? {
        let number: Int? = try optional(name)
        guard number.map(range.contains) ?? true else {
            throw error(
                name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func duration(_ name: String) throws(Diagnosis) -> Duration? {
        guard let text = try text(name) else { return nil }
        guard let parsed = DurationArgument(argument: text), parsed.duration > .zero else {
            throw error(name, "'\(printable(text))' is not \(DurationArgument.expectation)")
        }
        return parsed.duration
    }

    /// An object inside this one; nil if it is absent.
    func object(_ name: String, knowing names: [String]) throws(Diagnosis) -> SettingsReader? {
        guard let value = reader.json[name] else { return nil }
        return try SettingsReader(value, at: "\(reader.place).\(name)", in: file, knowing: names)
    }

    /// The error of an invalid member.
    func error(_ name: String, _ fault: String, hints: [String] = []) -> Diagnosis {
        Self.error("\(reader.place).\(name) \(fault)", hints: hints, in: file)
    }

    private func optional<Value: JSONConvertible>(_ name: String) throws(Diagnosis) -> Value? {
        try Self.converting(file) { () throws(ShapeError) in try reader.optional(name) }
    }

    private static func converting<Value>(
        _ file: String, _ read: () throws(ShapeError) -> Value
    ) throws(Diagnosis) -> Value {
        do throws(ShapeError) {
            return try read()
        } catch {
            switch error.fault {
            case .notAnObject, .missing, .other:
                throw Self.error("\(error.place) \(error.fault)", in: file)
            case .unknown(let name, let known):
                throw Self.error(
                    "\(error.place) has an unknown member '\(printable(name))'",
                    hints: didYouMean(suggestions(for: name, among: known)), in: file)
            case .wrong(let name, let shape, let kind):
                throw Self.error("\(error.place).\(name) must be \(shape), not \(kind)", in: file)
            }
        }
    }

    private static func error(
        _ message: String, hints: [String] = [], in file: String
    ) -> Diagnosis {
        Diagnosis(
            .configuration, message, hints: hints + ["fix it in \(file)"], exitCode: .settings)
    }
}
