internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

// The experiments, by what they examine.
extension ExperimentPlan {
    var documents: [Experiment] {
        [
            get(
                "the key set", Endpoint.keys.rawValue,
                [
                    EvidenceFact("keys", "RSA RS256 2048 bit") { $0.keyKinds },
                    EvidenceFact("keys_max_age", "0") { $0.maxAge },
                    EvidenceFact("keys_no_store", "false") { $0.mustNotBeStored },
                ]),
            get(
                "without a User-Agent", Endpoint.keys.rawValue, fields: [],
                [
                    EvidenceFact("missing_user_agent", "accepted") {
                        $0.status == 200
                            ? "accepted" : (400..<500).contains($0.status) ? "refused" : nil
                    }
                ]),
            get(
                "the discovery document", "/.well-known/openid-configuration",
                [
                    EvidenceFact("discovery_issuer", "https://appleid.apple.com") {
                        (try? JSON($0.body))?["issuer"]?.string
                    }
                ]),
            get(
                "GET on the token endpoint", Endpoint.token.rawValue,
                [EvidenceFact("wrong_method", "405") { $0.errorOrStatus }]),
        ]
    }

    /// The form of an error response.
    private static let errorFacts = [
        EvidenceFact("error_status", "400") { $0.oauthError == nil ? nil : String($0.status) },
        EvidenceFact("error_type", "application/json;charset=UTF-8") {
            $0.oauthError == nil ? nil : $0.fields["Content-Type"]
        },
        EvidenceFact("error_cache_control", "no-store") {
            $0.oauthError == nil ? nil : $0.fields["Cache-Control"]
        },
    ]

    var badRequests: [Experiment] {
        let error: @Sendable (HTTPResponse) -> String? = { $0.oauthError }
        return [
            post(
                "an empty form", .token, [client],
                [EvidenceFact("missing_grant_type", "invalid_request", error)] + Self.errorFacts),
            post(
                "an unknown grant", .token, [("grant_type", .plain("password")), client],
                [EvidenceFact("unknown_grant_type", "unsupported_grant_type", error)]),
            post(
                "no code", .token,
                [("grant_type", .plain("authorization_code")), client, Self.badSecret],
                [EvidenceFact("missing_code", "invalid_request", error)]),
            post(
                "no client_secret", .token, code("siwa-doctor"),
                [EvidenceFact("missing_client_secret", "invalid_client", error)]),
            post(
                "a parameter twice", .token,
                [("grant_type", .plain("password")), ("grant_type", .plain("password")), client],
                [
                    EvidenceFact("repeated_parameter", "refused") {
                        $0.oauthError.map { $0 == "invalid_request" ? "refused" : "accepted" }
                    }
                ]),
            post(
                "JSON in place of a form", .token, code("siwa-doctor") + [Self.badSecret],
                type: "application/json",
                [EvidenceFact("wrong_content_type", "invalid_client", error)]),
            post(
                "a malformed code, a bad secret", .token, code("siwa-doctor") + [Self.badSecret],
                [EvidenceFact("order_malformed", "invalid_grant", error)]),
            post(
                "an unknown code, a bad secret", .token,
                code(AuthorizationCode.neverIssued.text.revealed()) + [Self.badSecret],
                [EvidenceFact("order", "invalid_grant", error)]),
        ]
    }

    /// With the client's own key: what Apple accepts in a client_secret.
    func secrets() async -> [Experiment] {
        await [
            team("a good secret", [EvidenceFact("team_token", "always") { $0.teamToken }]) { _ in },
            team(
                "aud in an array",
                [EvidenceFact("audience_array", "accepted") { $0.acceptance }]
            ) { $0.replace("aud", [.string(ClientSecret.audience)]) },
            team(
                "exp with a fraction",
                [EvidenceFact("fractional_times", "accepted") { $0.acceptance }]
            ) { claims in
                let expiry = claims.first { $0.name == "exp" }?.value.integer ?? 0
                claims.replace("exp", .number("\(expiry).5"))
            },
            team("no iat", [EvidenceFact("missing_iat", "refused") { $0.acceptance }]) {
                $0.removeAll { $0.name == "iat" }
            },
            team(
                "an unknown scope", scope: "siwa.doctor",
                [
                    EvidenceFact("unknown_scope", "invalid_scope") {
                        $0.status == 200
                            ? "ignored" : $0.oauthError == "invalid_client" ? nil : $0.oauthError
                    }
                ]
            ) { _ in },
        ].compactMap { $0 }
    }

    private func team(
        _ name: String, scope: String = "user.migration", _ facts: [EvidenceFact],
        changing change: (inout [JSON.Member]) -> Void
    ) async -> Experiment? {
        guard let secret = await mint(change) else { return nil }
        return post(
            name, .token,
            [
                ("grant_type", .plain("client_credentials")), ("scope", .plain(scope)), client,
                ("client_secret", .secret(secret)),
            ], facts)
    }

    func revocations() async -> [Experiment] {
        let credentials = await mint { _ in }.map {
            [client, ("client_secret", Form.Value.secret($0))]
        }
        let garbage = ("token", Form.Value.plain("siwa-doctor"))
        return [
            post(
                "an empty revocation", .revoke, [],
                [EvidenceFact("revoke_empty", "invalid_client") { $0.oauthError }]),
            credentials.map {
                post(
                    "a garbage token", .revoke, $0 + [garbage],
                    [
                        EvidenceFact("revoke_garbage", "200, 0 bytes") {
                            "\($0.status), \($0.body.count) bytes"
                        },
                        EvidenceFact("revoke_content_type", "none") {
                            $0.status == 200 ? $0.mediaType ?? "none" : nil
                        },
                    ])
            },
            credentials.map {
                post(
                    "no token", .revoke, $0,
                    [
                        EvidenceFact("revoke_missing_token", "invalid_request") {
                            $0.status == 200 ? "ignored" : $0.oauthError
                        }
                    ])
            },
        ].compactMap { $0 }
    }

    var pages: [Experiment] {
        let asked = [
            ("client_id", clientID.rawValue), ("redirect_uri", Self.unregistered),
            ("response_type", "code"),
        ]
        let path = Endpoint.authorize.rawValue
        return [
            get(
                "an unregistered redirect_uri", path, asking: asked,
                [
                    EvidenceFact("unregistered_redirect", "invalid_request") { $0.pageError },
                    EvidenceFact("authorize_texts", "recent") { $0.authorizeTexts },
                    EvidenceFact("authorize_refusal", "400") { String($0.status) },
                ]),
            get(
                "a refusal as JSON", path, asking: asked,
                fields: [Self.agent, HTTPField("Accept", "application/json")],
                [EvidenceFact("authorize_json", "application/json") { $0.mediaType }]),
        ]
            + (redirectURI.map { uri in
                [
                    get(
                        "the scope openid in a query", path,
                        asking: [
                            ("client_id", clientID.rawValue), ("redirect_uri", uri),
                            ("response_type", "code"), ("response_mode", "query"),
                            ("scope", "openid"),
                        ],
                        [
                            EvidenceFact("openid_in_query", "200") {
                                $0.pageError ?? String($0.status)
                            }
                        ])
                ]
            } ?? [])
    }
}

extension [JSON.Member] {
    fileprivate mutating func replace(_ name: String, _ value: JSON) {
        removeAll { $0.name == name }
        append(JSON.Member(name, value))
    }
}

extension HTTPResponse {
    /// The kinds of the published keys, each once.
    fileprivate var keyKinds: String? {
        guard let keys = (try? JSON(body))?["keys"]?.elements, !keys.isEmpty else { return nil }
        return keys.map { key in
            let bytes = (key["n"]?.string).flatMap { try? Base64URL.decode($0) } ?? []
            let words = [key["kty"]?.string, key["alg"]?.string].compactMap { $0 }
            return (words + ["\(bytes.count * 8) bit"]).joined(separator: " ")
        }.unique.joined(separator: ", ")
    }

    /// For how many seconds the answer may be cached; 0 if it does not say.
    fileprivate var maxAge: String? {
        guard status == 200 else { return nil }
        let age = cachePolicy.first { $0.hasPrefix("max-age=") }
        return age.map { String($0.dropFirst(8)) } ?? "0"
    }

    /// Whether the answer forbids caching.
    fileprivate var mustNotBeStored: String? {
        guard status == 200 else { return nil }
        return String(cachePolicy.contains { $0 == "no-store" })
    }

    private var cachePolicy: [Substring] {
        (fields["Cache-Control"]?.lowercased() ?? "").split(separator: ",").map { part in
            part.drop { $0 == " " }
        }
    }

    /// Which of the known sentences refuses a redirect URI.
    fileprivate var authorizeTexts: String? {
        let page = String(decoding: body, as: UTF8.self)
        if page.mentions("Invalid client id or web redirect url.") { return "recent" }
        return page.mentions("Invalid web redirect url") ? "until_2023" : nil
    }

    fileprivate var teamToken: String? {
        status == 200 ? "always" : oauthError == "unauthorized_client" ? "in_window" : nil
    }
}
