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
            ["enable Sign in with Apple for \(client.clientID) in Apple's developer portal"]
        case .unsupportedGrantType:
            [
                """
                check in Apple's developer portal that Sign in with Apple is enabled for \
                \(client.clientID)
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

    private var client: Client { situation.client.client }

    private var invalidClient: [String] {
        certain + [
            """
            check that \(situation.client.key.source.value.description) is the .p8 that was \
            downloaded for Key ID \(client.signingKey.id), and that this key belongs to team \
            \(client.teamID) and is not revoked ('siwa public-key' shows its public half)
            """,
            """
            check that \(client.clientID) is an App ID or Services ID of team \(client.teamID) \
            whose primary App ID the key is configured for
            """,
            "'siwa config show' tells where each of these settings comes from",
        ]
    }

    /// Causes of `invalid_client` for which there is evidence on this side.
    private var certain: [String] {
        var hints: [String] = []
        if let clock = clockHint { hints.append(clock) }
        let key = situation.client.key.source.value
        if let named = key.keyIDInName, named != client.signingKey.id {
            hints.append(
                "the key file is named for Key ID \(named), but key_id is \(client.signingKey.id): "
                    + "set key_id to \(named), or name the other key")
        }
        if client.clientID.rawValue.hasPrefix(client.teamID.rawValue + ".") {
            hints.append(
                "leave the Team ID out of client_id: "
                    + client.clientID.rawValue.dropFirst(client.teamID.rawValue.count + 1))
        }
        for (name, value) in [
            ("team_id", client.teamID.rawValue), ("key_id", client.signingKey.id.rawValue),
        ]
        where value != value.uppercased() {
            hints.append("write \(name) in capitals, as Apple does: \(value.uppercased())")
        }
        return hints
    }

    /// A clock ahead of Apple's puts `iat` in the future; one behind makes the secret expire
    /// before it arrives.
    private var clockHint: String? {
        guard let offset = failure.clockOffset else { return nil }
        let seconds = offset.components.seconds
        if offset < .zero - ClientSecret.backdating {
            return "set this machine's clock: it is \(-seconds) s ahead of Apple's"
        }
        if offset >= client.secretLifetime {
            return "set this machine's clock: it is \(seconds) s behind Apple's, "
                + "longer than the secret lives"
        }
        return nil
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
                "the refresh token is dead for \(client.clientID): the user needs to sign in again",
                "Apple says the same of another client's token: check --client-id and --profile",
            ]
        default: unexplainedGrant
        }
    }

    private var unexplainedGrant: [String] {
        guard failure.request == "the exchange" else {
            return ["the token is dead or belongs to another client: a new sign-in is needed"]
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

    private var invalidRequest: [String] {
        failure.request == "the exchange"
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
