internal import SignInWithApple

/// One switch by its name: the only place that knows both.
private struct Switch: Sendable {
    let name: String
    let read: @Sendable (Switches) -> JSON
    let write: @Sendable (inout Switches, MemberReader) throws(ShapeError) -> Void

    init<Value: Shaped>(
        _ name: String, _ path: any WritableKeyPath<Switches, Value> & Sendable
    ) {
        self.name = name
        read = { $0[keyPath: path].json }
        write = { (switches, reader) throws(ShapeError) in
            if let value: Value = try reader.optional(name) { switches[keyPath: path] = value }
        }
    }

    static let all = [
        Switch("order", \.order),
        Switch("audience_array", \.audienceArray),
        Switch("redirect_mismatch", \.redirectMismatch),
        Switch("accept_spare_redirect_uri", \.acceptsSpareRedirect),
        Switch("mismatch_full_stop", \.mismatchFullStop),
        Switch("refresh_id_token", \.refreshIDToken),
        Switch("refresh_nonce", \.refreshNonce),
        Switch("refresh_after_revoke", \.refreshAfterRevoke),
        Switch("revoke_checks_hint", \.revokeChecksHint),
        Switch("revoke_checks_client", \.revokeChecksClient),
        Switch("revoke_scope", \.revokeScope),
        Switch("email_claims", \.emailClaims),
        Switch("clock_skew_tolerance", \.clockSkewTolerance),
        Switch("code_lifetime", \.codeLifetime),
        Switch("access_token_lifetime", \.accessTokenLifetime),
        Switch("id_token_lifetime", \.idTokenLifetime),
        Switch("discovery_issuer", \.discoveryIssuer),
        Switch("notification_events", \.notificationEvents),
        Switch("notification_time", \.notificationTime),
        Switch("notification_private_email", \.notificationPrivateEmail),
        Switch("notification_delivery", \.notificationDelivery),
        Switch("migration_needs_sign_in", \.migrationNeedsSignIn),
        Switch("early_recipient", \.earlyRecipient),
        Switch("allow_loopback_redirect", \.allowsLoopbackRedirect),
    ]
}

extension Switches {
    /// Every switch and its position.
    var json: JSON { .object(Switch.all.map { JSON.Member($0.name, $0.read(self)) }) }

    /// Turns the switches that `json` names: all of them, or none when one is wrong.
    mutating func turn(_ json: JSON) throws(ShapeError) {
        let reader = try MemberReader(json, at: "switches", knowing: Switch.all.map(\.name))
        var turned = self
        for entry in Switch.all { try entry.write(&turned, reader) }
        self = turned
    }
}
