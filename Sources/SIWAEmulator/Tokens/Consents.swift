internal import SIWALifecycle

/// What a client receives of a user's address.
enum EmailSharing {
    /// Nothing: the client did not ask for it.
    case withheld
    /// The address itself.
    case shared
    /// A relay address.
    case hidden
}

/// The users of each client, and their choices at the first sign-in.
struct Consents {
    struct Parties: Hashable {
        let userID: UserID
        let clientID: ClientID
    }

    private var choices: [Parties: EmailSharing] = [:]
    private var withdrawn: Set<Parties> = []

    /// The user's choice; nil before the first sign-in.
    subscript(userID: UserID, clientID: ClientID) -> EmailSharing? {
        choices[Parties(userID: userID, clientID: clientID)]
    }

    /// Records the first choice and returns the one in effect. Later choices change nothing: the
    /// user is asked only once, or with `laterEmail` again if the first time was not about the
    /// address.
    mutating func settle(
        _ userID: UserID, _ clientID: ClientID, choosing sharing: EmailSharing,
        _ laterEmail: Behaviors.LaterEmail
    ) -> (sharing: EmailSharing, isFirst: Bool) {
        if let settled = self[userID, clientID] {
            let isAskedAgain =
                laterEmail == .asked && settled == .withheld && sharing != .withheld
            guard isAskedAgain else { return (settled, false) }
        }
        choices[Parties(userID: userID, clientID: clientID)] = sharing
        withdrawn.remove(Parties(userID: userID, clientID: clientID))
        return (sharing, true)
    }

    /// Makes the user new to the client.
    mutating func withdraw(_ userID: UserID, _ clientID: ClientID) {
        choices[Parties(userID: userID, clientID: clientID)] = nil
        withdrawn.insert(Parties(userID: userID, clientID: clientID))
    }

    /// Whether the user has revoked the client and not signed in since.
    func isWithdrawn(_ userID: UserID, _ clientID: ClientID) -> Bool {
        withdrawn.contains(Parties(userID: userID, clientID: clientID))
    }
}
