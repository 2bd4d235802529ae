internal import SIWAJOSE
package import SIWALifecycle

/// An app or a website of the team, as registered with the emulated Apple.
package struct EmulatedClient: Sendable, Hashable {
    /// The kind of a client; the codes of the two kinds differ.
    package enum Kind: String, Sendable, CaseIterable {
        /// An app, named by its bundle id; its codes come without a redirect.
        case app
        /// A website or anything else that signs in through one, named by a Services ID.
        case web
    }

    /// The App ID or Services ID.
    package let clientID: ClientID
    /// The kind of the client.
    package let kind: Kind
    /// The registered redirect URIs of a web sign-in.
    package let redirectURIs: [String]
    /// The keys it may use; nil means all of the team's.
    package let keyIDs: [KeyID]?

    /// Registers a client.
    package init(
        clientID: ClientID, kind: Kind, redirectURIs: [String] = [], keyIDs: [KeyID]? = nil
    ) {
        self.clientID = clientID
        self.kind = kind
        self.redirectURIs = redirectURIs
        self.keyIDs = keyIDs
    }
}

extension EmulatedClient.Kind: JSONConvertible {}

extension EmulatedClient {
    init(_ json: JSON, at place: String) throws(ShapeError) {
        let reader = try JSONObjectReader(
            json, at: place, knowing: ["client_id", "kind", "redirect_uris", "key_ids"])
        self.init(
            clientID: try reader.required("client_id"), kind: try reader.required("kind"),
            redirectURIs: try reader.optional("redirect_uris") ?? [],
            keyIDs: try reader.optional("key_ids"))
    }

    var json: JSON {
        var members = [
            JSON.Member("client_id", clientID.json), JSON.Member("kind", kind.json),
        ]
        if !redirectURIs.isEmpty { members.append(JSON.Member("redirect_uris", redirectURIs.json)) }
        if let keyIDs { members.append(JSON.Member("key_ids", keyIDs.json)) }
        return .object(members)
    }
}
