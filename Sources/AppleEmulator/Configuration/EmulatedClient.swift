public import SignInWithApple

/// An app or a website of the team, as registered with the emulated Apple.
public struct EmulatedClient: Sendable, Hashable {
    /// What a client is: its codes differ.
    public enum Kind: String, Sendable, CaseIterable {
        /// An app, named by its bundle id; its codes come without a redirect.
        case app
        /// A website or anything else that signs in through one, named by a Services ID.
        case web
    }

    /// The App ID or Services ID.
    public let clientID: ClientID
    /// What it is.
    public let kind: Kind
    /// Where a web sign-in may return to.
    public let redirectURIs: [String]
    /// The keys it may use; nil means all of the team's.
    public let keyIDs: [KeyID]?

    /// Registers a client.
    public init(
        clientID: ClientID, kind: Kind, redirectURIs: [String] = [], keyIDs: [KeyID]? = nil
    ) {
        self.clientID = clientID
        self.kind = kind
        self.redirectURIs = redirectURIs
        self.keyIDs = keyIDs
    }
}

extension EmulatedClient.Kind: Shaped {}

extension EmulatedClient {
    init(_ json: JSON, at place: String) throws(ShapeError) {
        let reader = try MemberReader(
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
