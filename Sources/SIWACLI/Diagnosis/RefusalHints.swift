internal import SignInWithApple

/// What Apple's refusal most likely means, given what can be seen from here.
///
/// The causes and their order are those that public threads report (docs/emulator.md lists what Apple checks).
struct RefusalHints: Sendable {
    private let refusal: AppleError
    private let failure: TokenFailure
    private let situation: Situation

    /// Nil when no client took part in the request: then there is none to mend.
    init?(_ refusal: AppleError, _ error: RequestError) {
        guard let situation = error.situation else { return nil }
        self.refusal = refusal
        self.situation = situation
        failure = error.failure
    }

    var all: [String] {
        switch refusal.code {
        case .invalidClient: invalidClient
        case .invalidGrant: invalidGrant
        case .invalidRequest: invalidRequest
        case .unauthorizedClient:
            ["enable Sign in with Apple for \(clientID) in Apple's developer portal"]
        case .unsupportedGrantType:
            [
                """
                check in Apple's developer portal that Sign in with Apple is enabled for \
                \(clientID)
                """
            ]
        case .invalidScope:
            [
                "report it: siwa asked for no scope here, unless something in between changed the request"
            ]
        default:
            [
                "Apple does not document this code: see developer.apple.com/system-status, then try again"
            ]
        }
    }

    private var clientID: ClientID { situation.client.clientID }

    private var invalidClient: [String] {
        let clock = failure.clockOffset.flatMap {
            Finding.clock(
                off: $0, secretLifetime: situation.client.secretLifetime, server: situation.server)
        }
        let seen = (situation.findings + (clock.map { [$0] } ?? [])).ranked
        let isCertain = seen.contains { $0.confidence == .certain }
        return (isCertain ? seen : (seen + [unknownToApple]).ranked).map(\.hint) + grantWasFound
            + ["'siwa doctor --online' tries what can be tried, and asks Apple"]
    }

    /// What is left when nothing can be seen from here.
    private var unknownToApple: Finding {
        let (keyID, teamID, key) =
            switch situation.client {
            case .signing(let loaded):
                (
                    loaded.client.signingKey.id, loaded.client.teamID,
                    loaded.key.source.value.description
                )
            case .given(let given, _):
                (given.secret.keyID, given.secret.teamID, "the key that signed the client_secret")
            }
        return Finding(
            .unknownToApple, .error, .possible,
            seen: "Apple may know another key, team or client than \(keyID), \(teamID), "
                + "\(clientID)",
            advice: """
                check that \(key) is the .p8 that was downloaded for Key ID \(keyID), that this key \
                is not revoked and belongs to team \(teamID), and that \(clientID) is an App ID or \
                Services ID whose primary App ID the key is configured for
                """)
    }

    /// Apple looks the code or token up before it looks at the client (observed since 2022/23).
    private var grantWasFound: [String] {
        switch failure.request {
        case .exchange:
            ["the code is most likely good, and not spent: only the client is refused"]
        case .refresh: ["the token is most likely good: only the client is refused"]
        default: []
        }
    }

    private var invalidGrant: [String] {
        let detail = refusal.detail ?? ""
        if detail.hasPrefix("client_id mismatch") {
            return [
                """
                the code belongs to another client: codes from an app to its App ID, codes from a \
                web sign-in to the Services ID; give that one with --client-id or --profile
                """
            ]
        }
        return switch detail {
        case "The code has already been used.":
            ["a code works once; look for the answer to its first use, or ask for a new sign-in"]
        case "The code has expired or has been revoked.":
            [
                "a code lives five minutes: ask for a new sign-in",
                "Apple says the same of what is no code at all: check that nothing was cut off it",
            ]
        case "The token has expired or has been revoked.":
            [
                "the refresh token is dead for \(clientID): the user needs to sign in again",
                "Apple says the same of another client's token: check --client-id and --profile",
            ]
        default: unexplainedGrant
        }
    }

    private var unexplainedGrant: [String] {
        if let migration { return migration.invalidGrant }
        guard failure.request == .exchange else {
            return [
                "the token is dead already, or another client's; check --client-id and --profile",
                "if they are right, the user needs to sign in again",
            ]
        }
        return [
            situation.hasRedirectURI
                ? "redirect_uri must be the one of the sign-in, letter for letter; an app's code has none"
                : "a code from a web sign-in needs --redirect-uri, the same as in the sign-in",
            situation.hasCodeVerifier
                ? "code_verifier must belong to the code_challenge of the sign-in"
                : "a sign-in with a code_challenge needs --code-verifier",
            "otherwise ask for a new sign-in",
        ]
    }

    private var migration: MigrationHints? {
        situation.client.signing.flatMap { MigrationHints(failure.request, $0.client) }
    }

    private var invalidRequest: [String] {
        if let migration { return migration.invalidRequest }
        return failure.request == .exchange
            ? [
                "the code and the client may not belong together: check --client-id and --profile",
                "a code from a web sign-in needs --redirect-uri; an app's code must not have one",
            ]
            : [
                "the user may have revoked the app: Apple has answered so in that case",
                "the token may be of another client: check --client-id and --profile",
            ]
    }
}
