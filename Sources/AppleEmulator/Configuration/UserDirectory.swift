internal import Lifecycle

/// The people who sign in: those of `emulator.json`, and those made by `POST /emulator/seed`.
struct UserDirectory {
    private(set) var users: [EmulatedUser]
    /// How many of them, from the first, are those of `emulator.json`.
    let configured: Int
    private var positions: [String: Int]

    init(_ users: [EmulatedUser]) {
        self.users = users
        configured = users.count
        positions = Dictionary(
            users.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The user called `name`, or the first one.
    subscript(name: String?) -> EmulatedUser? {
        guard let name else { return users.first }
        return positions[name].map { users[$0] }
    }

    /// A number of users in turn, starting with `first` and continuing with the first after the
    /// last.
    func users(_ count: Int, from first: EmulatedUser) -> [EmulatedUser] {
        let start = positions[first.name] ?? 0
        return (0..<count).map { users[(start + $0) % users.count] }
    }

    /// Takes a user whose name is new; false when it is not.
    mutating func add(_ user: EmulatedUser) -> Bool {
        guard positions[user.name] == nil else { return false }
        positions[user.name] = users.count
        users.append(user)
        return true
    }
}
