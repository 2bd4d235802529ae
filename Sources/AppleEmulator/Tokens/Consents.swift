internal import Lifecycle

/// What a client gets to know of a user's address.
enum EmailSharing {
    /// It did not ask.
    case withheld
    /// The address itself.
    case shared
    /// A relay address.
    case hidden
}

/// Who signs in to which client, and what was chosen the first time.
struct Consents {
    struct Parties: Hashable {
        let userID: UserID
        let clientID: ClientID
    }

    private var choices: [Parties: EmailSharing] = [:]
    private var withdrawn: Set<Parties> = []

    /// What the user has chosen; nil before the first sign-in.
    subscript(userID: UserID, clientID: ClientID) -> EmailSharing? {
        choices[Parties(userID: userID, clientID: clientID)]
    }

    /// Writes the first choice down and answers the one that holds. A later choice changes
    /// nothing: what was not asked for the first time is not asked for again.
    mutating func settle(
        _ userID: UserID, _ clientID: ClientID, choosing sharing: EmailSharing
    ) -> (sharing: EmailSharing, isFirst: Bool) {
        if let settled = self[userID, clientID] { return (settled, false) }
        choices[Parties(userID: userID, clientID: clientID)] = sharing
        withdrawn.remove(Parties(userID: userID, clientID: clientID))
        return (sharing, true)
    }

    /// The user counts as new to the client from now on.
    mutating func withdraw(_ userID: UserID, _ clientID: ClientID) {
        choices[Parties(userID: userID, clientID: clientID)] = nil
        withdrawn.insert(Parties(userID: userID, clientID: clientID))
    }

    /// Whether the user has revoked the client, and has not come back.
    func isWithdrawn(_ userID: UserID, _ clientID: ClientID) -> Bool {
        withdrawn.contains(Parties(userID: userID, clientID: clientID))
    }
}
