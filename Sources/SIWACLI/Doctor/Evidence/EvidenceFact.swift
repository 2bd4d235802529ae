internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle

/// An assumption of siwa-emulator about Apple, and how an answer confirms or refutes it.
struct EvidenceFact: Sendable {
    /// The result of it.
    enum Verdict: String, CaseIterable {
        case confirmed
        case contradicted
        /// Not tested, or the answer does not show it.
        case untouched
    }

    /// The name of the emulator's switch, or of a fact without a switch.
    let name: String
    /// The emulator's default.
    let expected: String
    /// What an answer shows; nil if it shows nothing about the assumption.
    let observe: @Sendable (HTTPResponse) -> String?

    init(
        _ name: String, _ expected: String,
        _ observe: @escaping @Sendable (HTTPResponse) -> String?
    ) {
        (self.name, self.expected, self.observe) = (name, expected, observe)
    }

    func observation(in response: HTTPResponse) -> Observation {
        Observation(name: name, expected: expected, seen: observe(response))
    }

    struct Observation: Sendable {
        let name: String
        let expected: String
        let seen: String?

        var verdict: Verdict {
            seen.map { $0 == expected ? .confirmed : .contradicted } ?? .untouched
        }

        var json: JSON {
            [
                "fact": .string(name), "emulator": .string(expected),
                "apple": seen.map(JSON.string) ?? .null, "verdict": .string(verdict.rawValue),
            ]
        }
    }
}

extension EvidenceFact {
    /// The emulator's switches that no harmless request can test.
    static let untouched = [
        "clock_skew_tolerance", "secret_clock", "head_requests", "redirect_mismatch",
        "accept_spare_redirect_uri", "redirect_mismatch_description", "mismatch_full_stop",
        "pkce_failure", "code_lifetime",
        "access_token_lifetime", "refresh_token_lifetime", "id_token_lifetime", "token_issuer",
        "email_claims", "relay_domain", "refresh_id_token", "refresh_nonce", "refresh_auth_time",
        "refresh_real_user_status", "refresh_after_revoke", "revoke_takes_code",
        "revoke_checks_hint", "revoke_checks_client", "revoke_scope", "scope_plus", "web_message",
        "later_email",
        "notification_events", "notification_time", "notification_private_email",
        "notification_delivery", "migration_needs_sign_in", "early_recipient",
        "transferred_tokens", "allow_loopback_redirect",
    ]
}

// Observations in answers.
extension HTTPResponse {
    /// `error` of a JSON body, or the status if the body has no `error`.
    var errorOrStatus: String { oauthError ?? String(status) }

    var oauthError: String? { (try? JSON(body))?["error"]?.string }

    /// The media type, without parameters.
    var mediaType: String? {
        fields["Content-Type"].map { String($0.prefix { $0 != ";" }).lowercased() }
    }

    /// Whether a request was accepted that can be refused only with `invalid_client`.
    var acceptance: String? {
        status == 200 ? "accepted" : oauthError == "invalid_client" ? "refused" : nil
    }

    /// The OAuth error that a page for people names.
    var pageError: String? {
        if let oauthError { return oauthError }
        let words = Set(
            String(decoding: body, as: UTF8.self).split { !$0.isLetter && $0 != "_" })
        return ["unauthorized_client", "invalid_request", "invalid_client", "invalid_scope"].first {
            words.contains(Substring($0))
        }
    }
}
