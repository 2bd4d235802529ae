internal import SIWAJOSE
internal import SIWALifecycle

// POST /emulator/users.
extension AppleEmulator {
    /// Adds a user, who can sign in at once; generates a `sub` if it is absent.
    func addUser(_ body: JSON) throws -> JSON {
        let members = body.members ?? []
        let name: String = try JSONObjectReader(
            body, knowing: ["name"] + members.map(\.name)
        ).required("name")
        guard !name.isEmpty, name.utf8.count <= 100,
            name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { throw ShapeError("", "'name' must be 1 to 100 bytes without spaces") }
        guard service.users[name] == nil else {
            throw ShapeError("", "'\(name.clipped)' exists already")
        }
        var rest = members.filter { $0.name != "name" }
        if body["sub"] == nil {
            let userID = EmulatedUser.newUserID(using: &service.random.users)
            rest.append(JSON.Member("sub", userID.json))
        }
        let user = try EmulatedUser(JSON.Member(name, .object(rest)), at: "")
        let isTaken =
            body["sub"] != nil && service.users.users.contains { $0.userID == user.userID }
        guard !isTaken else { throw ShapeError("", "'\(user.userID)' is another user's sub") }
        _ = service.users.add(user)
        // It is created from the users when it is next needed.
        service.transferees = nil
        return ["name": .string(name), "user": user.json]
    }
}
