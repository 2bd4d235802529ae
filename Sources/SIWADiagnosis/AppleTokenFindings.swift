internal import SIWAJOSE
internal import SIWALifecycle

/// The faults of a JWT that claims to be Apple's which are visible without verifying it.
struct AppleTokenFindings {
    private let claims: JSON
    private let header: JSON
    private let kind: Recognition.Kind
    private let expected: ExpectedClient
    private let now: NumericDate

    init(
        _ kind: Recognition.Kind, _ token: CompactJWS, _ expected: ExpectedClient,
        _ now: NumericDate
    ) {
        (claims, header) = (token.payload, token.header)
        (self.kind, self.expected, self.now) = (kind, expected, now)
    }

    var all: [Finding] {
        guard kind == .identityToken || kind == .notification else { return [] }
        return (algorithm + issuer + audience + expiry).ranked
    }

    private var algorithm: [Finding] {
        guard header["alg"] != "RS256" else { return [] }
        let found = header["alg"]?.string.map(quoted) ?? "missing"
        return [
            Finding(
                .wrongAlgorithm, seen: "alg is \(found), and Apple signs with RS256",
                advice: "do not trust it: it is not Apple's")
        ]
    }

    private var issuer: [Finding] {
        guard claims["iss"] != "https://appleid.apple.com" else { return [] }
        let found = claims["iss"]?.string.map(quoted) ?? "missing"
        return [
            Finding(
                .wrongIssuer, seen: "iss is \(found)",
                advice: "Apple's tokens name https://appleid.apple.com: 'siwa verify' checks it")
        ]
    }

    private var audience: [Finding] {
        guard let accepted = expected.audiences ?? expected.clientID.map({ [$0.rawValue] }),
            !accepted.contains(where: { claims["aud"]?.string?.isExactly($0) == true })
        else { return [] }
        let found = claims["aud"]?.string.map(quoted) ?? claims["aud"]?.kind ?? "missing"
        return [
            Finding(
                .wrongAudience, .error, .likely,
                seen: "aud is \(found), not \(accepted.joined(separator: " or "))",
                advice: claims["aud"]?.string.flatMap(expected.place).map {
                    "\($0) has this client id: use it"
                } ?? "it is for another client: give that one with --client-id or --profile")
        ]
    }

    private var expiry: [Finding] {
        guard case .moment(let date) = TimeClaim("exp", claims["exp"]).value, date <= now else {
            return []
        }
        return [
            Finding(
                .expired, .warning, seen: "it expired at \(date.rfc3339)",
                advice: "Apple's tokens live a day: verify them when they arrive")
        ]
    }
}
