internal import SIWACommandTable
package import SIWAJOSE
internal import SIWALifecycle

extension Verification {
    /// `valid` and `checks`.
    package var verdict: [JSON.Member] {
        [
            .init("valid", .boolean(isValid)), .init("checks", .array(checks.map(\.json))),
        ]
    }
}

extension CompactJWS {
    /// `header` and `claims` of an identity token, and `email_kind` if it has an address.
    package var identityMembers: [JSON.Member] {
        [.init("header", header), .init("claims", payload.normalizedClaims)]
            + (emailKind.map { [.init("email_kind", .string($0.rawValue))] } ?? [])
    }
}

extension TokenCheck {
    /// The check as JSON; secrets in its detail are masked.
    var json: JSON {
        let name = JSON.Member("name", .string(name))
        let status = JSON.Member("status", .string(status.rawValue))
        guard let detail else { return .object([name, status]) }
        return .object([name, status, .init("detail", .string(maskingSecrets(in: detail)))])
    }
}
