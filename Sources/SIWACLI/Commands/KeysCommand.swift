internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa keys`: Apple's key set.
struct KeysCommand: Command {
    enum Format: String, CaseIterable, ParameterValue {
        case json
        case jwks
    }

    static let name = "keys"
    static let abstract = "Show Apple's key set."
    static let discussion = """
        Apple signs identity tokens and notifications with these keys; kid in the header of a token \
        names its key. All siwa commands share the key set, which is cached for an hour in \
        $XDG_CACHE_HOME/siwa (~/.cache/siwa). fingerprint is the JWK thumbprint (RFC 7638) of a \
        key, known_before whether an earlier command has seen it, and first_seen when.

        If Apple cannot be reached, an expired key set is used, with a warning and stale: true. \
        With --refresh that is an error.

        --format jwks prints the JWK Set as Apple sent it. Keep it with the tokens of its day: \
        'siwa verify --jwks FILE --at TIME' verifies them after Apple has withdrawn the keys.
        """
    static let examples = [
        Example("siwa keys", "Show the keys."),
        Example("siwa keys --format jwks > apple-keys.json", "Keep the keys of today."),
        Example("siwa keys --refresh --print changed", "Check whether Apple's keys have changed."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .flag("refresh", \.isForced, help: "Fetch the keys even if the cache is fresh."),
            .option(
                "format", \.format, value: "FORMAT",
                help: "Print details of the keys, or the JWK Set as Apple sent it."),
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var isForced = false
    var format = Format.json

    func run(in world: World) async throws {
        let session = try Session(global, in: world)
        try requireOpenSSL()
        let found = try await AppleKeySource(AppleConnection(session)).newest(isForced: isForced)
        switch format {
        case .json: try session.report(Report(try found.json))
        case .jwks: try session.report(Report(found.held.keySet.document))
        }
    }
}

extension FoundKeySet {
    fileprivate var json: JSON {
        get throws {
            let members: JSON = [
                "keys": .array(try held.keySet.keys.map { try describe($0.id, $0.key) }),
                "ignored": .array(held.keySet.ignored.map(\.json)),
                "fetched_at": .string(held.fetchedAt.rfc3339),
                "expires_at": .string((held.fetchedAt + KeySetCache.lifetime).rfc3339),
                "stale": .boolean(isStale),
                "changed": .boolean(change.map { !$0.isEmpty } ?? false),
                "added": .array(change?.added.map { .string($0) } ?? []),
                "withdrawn": .array(change?.withdrawn.map { .string($0) } ?? []),
            ]
            let request = requestID.map { [JSON.Member("apple_request_id", .string($0))] } ?? []
            return .object((members.members ?? []) + request)
        }
    }

    private func describe(_ id: String, _ key: RSAPublicKey) throws -> JSON {
        .object(
            [
                .init("kid", .string(id)), .init("size", .integer(key.bits)),
                .init("fingerprint", .string(try key.thumbprint())),
                .init("known_before", .boolean(knownBefore.contains(id))),
            ]
                + (firstSeen[id].map { [.init("first_seen", .string($0.rfc3339))] } ?? []))
    }
}

extension IgnoredKey {
    fileprivate var json: JSON {
        ["kid": keyID.map { .string($0) } ?? .null, "reason": .string(reason.rawValue)]
    }
}
