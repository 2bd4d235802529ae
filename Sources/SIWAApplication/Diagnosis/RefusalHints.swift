internal import SIWALifecycle

/// The most likely causes of Apple's refusal, as far as visible on this machine.
///
/// The causes and their order are those reported in public threads (docs/emulator.md lists what
/// Apple checks).
struct RefusalHints: Sendable {
    private let refusal: AppleError
    private let failure: TokenFailure
    private let context: FailureContext

    /// Nil if the request did not involve a client: then there are no settings to fix.
    init?(_ refusal: AppleError, _ error: RequestError) {
        guard let context = error.context else { return nil }
        self.refusal = refusal
        self.context = context
        failure = error.failure
    }

    var all: [String] {
        switch refusal.code {
        case .invalidClient: invalidClient
        case .invalidGrant: mistakenValue + invalidGrant + unknownValue
        case .invalidRequest: mistakenValue + invalidRequest + unknownValue
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
                "report this: siwa requested no scope, unless a proxy changed the request"
            ]
        default:
            [
                "Apple does not document this code: see developer.apple.com/system-status, then try again"
            ]
        }
    }

    /// What was probably given in place of the code or token.
    private var mistakenValue: [String] {
        guard case .unusual(let slip?)? = failure.look else { return [] }
        let remedy =
            switch (slip, failure.request) {
            case (.percentEncoded, _):
                "decode it, as every form and query is decoded: %2E is a dot"
            case (.refreshToken, _): "it needs no exchange: siwa refresh --token"
            case (.code, _): "exchange it: siwa exchange --code"
            case (.accessToken, .exchange): "give the code of the sign-in, which begins with 'c'"
            case (.accessToken, _): "give the refresh_token of Apple's answer"
            case (.fileName, _):
                context.isCommandLine
                    ? "to read that file, write @PATH" : "give what is in the file"
            case (.userID, _): "--user takes a user whose tokens are in the vault"
            }
        return ["\(value) looks like \(slip.description): \(remedy)"]
    }

    /// Apple may have changed the shape, so this is the last hint.
    private var unknownValue: [String] {
        guard case .unusual(nil)? = failure.look else { return [] }
        return [
            "\(value) does not look like one of Apple's: "
                + (context.isCommandLine
                    ? "@PATH reads it from a file, @env:NAME from a variable"
                    : "give it as Apple sent it, whole")
        ]
    }

    private var value: String { failure.request == .exchange ? "the code" : "the token" }

    private var clientID: ClientID { context.client.clientID }

    private var invalidClient: [String] {
        let clock = failure.clockOffset.flatMap {
            Finding.clock(
                off: $0, secretLifetime: context.client.secretLifetime, server: context.server)
        }
        let seen = (context.findings + (clock.map { [$0] } ?? [])).ranked
        let isCertain = seen.contains { $0.confidence == .certain }
        return (isCertain ? seen : (seen + [unknownToApple]).ranked).map(\.hint) + grantWasFound
            + ["'siwa doctor --online' tests the possible causes with Apple"]
    }

    /// The advice if no cause is visible on this machine.
    private var unknownToApple: Finding {
        let (keyID, teamID, key) =
            switch context.client {
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

    /// Apple checks the code or token before the client (observed since 2022/23).
    private var grantWasFound: [String] {
        switch failure.request {
        case .exchange:
            [
                "the code is probably valid and unused: Apple refused only the client"
                    + (context.isCommandLine
                        ? ""
                        : "; this answer is kept for ten minutes, so let the user sign in again")
            ]
        case .refresh: ["the token is probably valid: Apple refused only the client"]
        default: []
        }
    }

    private var invalidGrant: [String] {
        switch refusal.grantFault {
        case .otherClient:
            [
                """
                the code belongs to another client: codes from an app to its App ID, codes from a \
                web sign-in to the Services ID; give that one with --client-id or --profile
                """
            ]
        case .otherRedirectURI: [redirectURI]
        case .codeUsed:
            ["a code works once: look for the response to its first use, or ask for a new sign-in"]
        case .codeExpired:
            [
                "a code is valid for five minutes: ask for a new sign-in",
                "check that the code is complete: Apple answers a truncated one in the same way",
            ]
        case .tokenExpired:
            [
                "the refresh token no longer works for \(clientID): the user must sign in again",
                "check --client-id and --profile: Apple answers another client's token in the same way",
            ]
        case nil: unexplainedGrant
        }
    }

    private var unexplainedGrant: [String] {
        if let migration { return migration.invalidGrant }
        guard failure.request == .exchange else {
            return [
                "the token no longer works, or is another client's; check --client-id and --profile",
                "if they are correct, the user must sign in again",
            ]
        }
        return [
            redirectURI,
            context.hasCodeVerifier
                ? "code_verifier must match the code_challenge of the sign-in"
                : "a sign-in with a code_challenge needs --code-verifier",
            "otherwise ask for a new sign-in",
        ]
    }

    private var redirectURI: String {
        context.hasRedirectURI
            ? "redirect_uri must be exactly the one of the sign-in; a code from an app has none"
            : "a code from a web sign-in needs --redirect-uri, the same as in the sign-in"
    }

    private var migration: MigrationHints? {
        context.client.signing.flatMap { MigrationHints(failure.request, $0.client) }
    }

    private var invalidRequest: [String] {
        if let migration { return migration.invalidRequest }
        return failure.request == .exchange
            ? [
                "the code may be for another client: check --client-id and --profile",
                "a code from a web sign-in needs --redirect-uri; an app's code must not have one",
            ]
            : [
                "the user may have revoked the app: Apple has answered like this then",
                "the token may be another client's: check --client-id and --profile",
            ]
    }
}
