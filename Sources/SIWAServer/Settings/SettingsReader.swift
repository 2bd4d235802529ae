internal import CommandTable
internal import JOSE
internal import Lifecycle
internal import SIWACLI

/// Reads one object of the configuration strictly. Every error names the member.
struct SettingsReader {
    private let json: JSON
    /// The name of the object in messages, such as `server.api`.
    private let place: String
    private let file: String

    /// - Throws: ``Diagnosis`` if it is not an object, or has other members than `names`.
    init(
        _ json: JSON, at place: String, in file: String, knowing names: [String]
    ) throws(Diagnosis) {
        (self.json, self.place, self.file) = (json, place, file)
        guard let members = json.members else {
            throw error("\(place) must be an object, not \(json.kind)")
        }
        for member in members where !names.contains(member.name) {
            throw error(
                "\(place) has an unknown member '\(printable(member.name))'",
                hints: didYouMean(suggestions(for: member.name, among: names)))
        }
    }

    func text(_ name: String) throws(Diagnosis) -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.string, !text.isEmpty else {
            throw error(name, "must be a string that is not empty")
        }
        return text
    }

    func requiredText(_ name: String) throws(Diagnosis) -> String {
        guard let text = try text(name) else { throw error(name, "is not set") }
        return text
    }

    func flag(_ name: String) throws(Diagnosis) -> Bool {
        guard let value = json[name] else { return false }
        guard let flag = value.boolean else { throw error(name, "must be true or false") }
        return flag
    }

    func has(_ name: String) -> Bool { json[name] != nil }

    func duration(_ name: String) throws(Diagnosis) -> Duration? {
        guard let text = try text(name) else { return nil }
        guard let parsed = DurationArgument(argument: text), parsed.duration > .zero else {
            throw error(name, "'\(printable(text))' is not \(DurationArgument.expectation)")
        }
        return parsed.duration
    }

    /// An object inside this one; nil if it is absent.
    func object(_ name: String, knowing names: [String]) throws(Diagnosis) -> SettingsReader? {
        guard let value = json[name] else { return nil }
        return try SettingsReader(value, at: "\(place).\(name)", in: file, knowing: names)
    }

    /// The error of an invalid member.
    func error(_ name: String, _ fault: String, hints: [String] = []) -> Diagnosis {
        error("\(place).\(name) \(fault)", hints: hints)
    }

    private func error(_ message: String, hints: [String] = []) -> Diagnosis {
        Diagnosis(
            "configuration", message, hints: hints + ["fix it in \(file)"], exitCode: .settings)
    }
}
