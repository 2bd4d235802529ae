internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle

/// For whom a batch sends its requests, and where to: named in every result, so that results of
/// another client, server or team are not taken for those of this run.
struct BatchOrigin: Sendable {
    /// The client of items that name none.
    let clientID: ClientID
    /// The members that are the same for all items of the run.
    private let fixed: [(name: String, value: String?)]
    /// Those of them that a result has: Apple's own address is the rule, and not named.
    private let named: [JSON.Member]

    /// - Parameters:
    ///   - teamID: in a migration, the team that asks.
    ///   - newTeam: in an export, the team that gets the app.
    init(clientID: ClientID, baseURL: BaseURL, teamID: TeamID? = nil, newTeam: TeamID? = nil) {
        self.clientID = clientID
        fixed = [
            ("base_url", baseURL.description), ("team_id", teamID?.rawValue),
            ("to_team", newTeam?.rawValue),
        ]
        named = fixed.compactMap { name, value in
            value == Self.absent[name] ? nil : value.map { .init(name, .string($0)) }
        }
    }

    /// Adds the members of a result that it does not have.
    ///
    /// - Parameter own: the client that the item names.
    func complete(_ members: inout [JSON.Member], _ own: ClientID?) {
        func isMissing(_ name: String) -> Bool { !members.contains { $0.name == name } }
        if isMissing("client_id") {
            members.append(.init("client_id", .string((own ?? clientID).rawValue)))
        }
        for member in named where isMissing(member.name) { members.append(member) }
    }

    /// The first member of a result that differs, but for the client; nil without a difference.
    func difference(in result: JSON) -> OriginDifference? {
        for (name, value) in fixed {
            let found = result[name]?.string ?? Self.absent[name]
            if found != value { return OriginDifference(member: name, result: found, run: value) }
        }
        return nil
    }

    /// What an absent member means.
    private static let absent = ["base_url": BaseURL.apple.description]

    /// The names of the members, which a result must not have for another reason.
    static let names = ["client_id", "base_url", "team_id", "to_team"]
}

/// A member in which a result and a run differ.
struct OriginDifference: Sendable {
    let member: String
    /// The value in the result; nil if it has none.
    let result: String?
    /// The value of the run; nil if it has none.
    let run: String?
}

/// The client ids of earlier results, by numbers that fit into a slot. An account has few; should
/// there be more than the numbers, the further ones are kept as one unknown client.
struct OriginClients: Sendable {
    private var names: [String] = []
    private var numbers: [String: Int] = [:]

    /// The number of a client; 0 for none.
    mutating func number(of name: String?) -> Int {
        guard let name else { return 0 }
        if let number = numbers[name] { return number }
        guard names.count < Self.unknown - 1 else { return Self.unknown }
        names.append(name)
        numbers[name] = names.count
        return names.count
    }

    /// The name with a number; nil for none.
    func name(_ number: Int) -> String? {
        if number == Self.unknown { return "another client" }
        return names.indices.contains(number - 1) ? names[number - 1] : nil
    }

    private static let unknown = 0xFFFF
}
