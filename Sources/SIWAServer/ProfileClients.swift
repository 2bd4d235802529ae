package import Lifecycle
package import SIWACLI

/// The clients of all profiles; they share one vault.
package struct ProfileClients: Sendable {
    /// All of them, in the order of the configuration.
    package let all: [ProfileClient]
    /// The client of requests that name none; nil if the configuration chooses none.
    package let standard: ProfileClient?
    /// The clients for whose tokens the server accepts identity tokens and notifications.
    package let audiences: [String]

    /// - Parameter standard: the name of the default profile.
    package init(_ all: [ProfileClient], standard: String?) {
        self.all = all
        self.standard = all.first { $0.name == standard } ?? (all.count == 1 ? all[0] : nil)
        var audiences: [String] = []
        for audience in all.flatMap({ $0.audiences + [$0.clientID.rawValue] })
        where !audiences.contains(audience) { audiences.append(audience) }
        self.audiences = audiences
    }

    /// The client of this id; nil if no profile has it.
    package subscript(clientID: ClientID) -> ProfileClient? {
        all.first { $0.clientID == clientID }
    }

    /// The ids of the clients, each once: profiles may share a client.
    var clientIDs: [ClientID] {
        var ids: [ClientID] = []
        for client in all where !ids.contains(client.clientID) { ids.append(client.clientID) }
        return ids
    }

    /// The client that a request names, or the standard one.
    ///
    /// - Throws: ``Diagnosis`` if no profile has it.
    func client(_ clientID: ClientID?) throws(Diagnosis) -> ProfileClient {
        guard let clientID else {
            guard let standard else {
                throw .malformed("client_id", "is needed: there is no default profile")
            }
            return standard
        }
        guard let client = self[clientID] else {
            throw .malformed("client_id", "'\(clientID)' is not the client of a profile")
        }
        return client
    }
}
