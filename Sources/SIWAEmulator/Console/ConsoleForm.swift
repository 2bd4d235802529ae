internal import SIWAJOSE

/// A form of the console, converted to the body of the control request that it sends.
///
/// A field is a member of the body. `count:integer` and `wait:boolean` name the type where it is
/// not text; `json` contains members that a button adds; an empty field is absent.
struct ConsoleForm {
    let token: String?
    private let fields: [ReceivedForm.Parameter]

    init(_ request: EmulatorRequest) throws(ControlError) {
        guard request.body.count <= EmulatorRequest.bodyLimit else {
            throw ControlError(status: 413, "the form is too long")
        }
        guard let form = try? ReceivedForm(request) else {
            throw ControlError("the form is not percent-encoded as it must be")
        }
        token = form["token"]
        fields = form.parameters.filter { $0.name != "token" && !$0.value.isEmpty }
    }

    /// The members; the last field of a name is used.
    func body() throws(ControlError) -> JSON {
        var members: [JSON.Member] = []
        for field in fields {
            for member in try Self.members(of: field) {
                members.removeAll { $0.name == member.name }
                members.append(member)
            }
        }
        return .object(members)
    }

    private static func members(
        of field: ReceivedForm.Parameter
    ) throws(ControlError) -> [JSON.Member] {
        let parts = field.name.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("json", nil):
            guard let members = (try? JSON(text: field.value))?.members else {
                throw ControlError("the field 'json' must be an object")
            }
            return members
        case (let name?, "integer"):
            guard let number = Int(field.value) else {
                throw ControlError("'\(name.clipped)' must be a whole number")
            }
            return [JSON.Member(name, .integer(number))]
        case (let name?, "boolean"):
            return [JSON.Member(name, .boolean(field.value == "true"))]
        case (let name?, nil): return [JSON.Member(name, .string(field.value))]
        default: throw ControlError("the field '\(field.name.clipped)' is unknown")
        }
    }
}
