internal import SIWALifecycle

/// The users: those of `emulator.json`, then those created by `POST /emulator/seed`.
struct UserDirectory {
    private(set) var users: [EmulatedUser]
    /// The number of users from `emulator.json`, which come first.
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

    /// Adds a user; false if the name exists already.
    mutating func add(_ user: EmulatedUser) -> Bool {
        guard positions[user.name] == nil else { return false }
        positions[user.name] = users.count
        users.append(user)
        return true
    }
}
