internal import SIWAJOSE

// Other things of Apple's and of the client's, in place of the identity token.
extension BadToken {
    static let otherTokens: [BadToken] = [
        text("T52", "a genuine notification in place of the identity token") { good, _ in
            guard !good.notification.isEmpty else { throw NotPossible("there is no notification") }
            return good.notification
        },
        text("T53", "a client_secret, signed by the client's own key") { good, issuer in
            try await issuer.clientSecret(of: good.audience, now: good.now)
        },
        text("T54", "an access token in place of the identity token") { good, _ in
            guard !good.accessToken.isEmpty else { throw NotPossible("there is no access token") }
            return good.accessToken
        },
        claims("T55", "a token of the team's other client: web for native, or native for web") {
            guard let sibling = $0.siblingClient else {
                throw NotPossible("the team has no other client")
            }
            return [("aud", .string(sibling))]
        },
        claims("T56", "the identity token of a refresh: at_hash, and no nonce") {
            [
                ("nonce", nil), ("c_hash", nil), ("auth_time", nil),
                ("at_hash", .string(try leftHalfOfHash($0.accessToken))),
            ]
        },
    ]
}
