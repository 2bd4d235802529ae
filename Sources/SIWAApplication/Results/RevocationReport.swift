internal import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle

/// The members about a revocation in a result.
package struct RevocationReport: Sendable {
    private let revocation: Revocation
    private let kind: TokenKind
    private let clientID: ClientID
    private let fingerprint: String
    private let date: NumericDate

    package init(
        _ revocation: Revocation, of token: SecretText, _ kind: TokenKind, _ clientID: ClientID,
        at date: NumericDate
    ) {
        self.init(revocation, ofToken: token.fingerprint, kind, clientID, at: date)
    }

    /// - Parameter fingerprint: identifies the token.
    package init(
        _ revocation: Revocation, ofToken fingerprint: String, _ kind: TokenKind,
        _ clientID: ClientID, at date: NumericDate
    ) {
        (self.revocation, self.fingerprint) = (revocation, fingerprint)
        (self.kind, self.clientID, self.date) = (kind, clientID, date)
    }

    /// The result's members, in their order.
    package var members: [JSON.Member] {
        var members: [JSON.Member] = []
        // Those of the batch, too, so that it need not grow.
        members.reserveCapacity(14)
        members.append(.init("revoked", .boolean(revocation.isRevoked)))
        members.append(.init("confirmed", .boolean(revocation.isConfirmed)))
        members.append(.init("kind", .string(kind.rawValue)))
        members.append(.init("client_id", .string(clientID.rawValue)))
        members.append(.init("token_fingerprint", .string(fingerprint)))
        members.append(.init("http_status", revocation.status.map { .integer($0) } ?? .null))
        members.append(.init("at", .string(date.rfc3339)))
        members += revocation.proofMembers
        return members
    }

    /// The names of the members that a result can have, so that a misspelt `--print` is found
    /// before anything is revoked.
    package static func memberNames(_ proof: Revocation.Proof) -> [String] {
        [
            "revoked", "confirmed", "kind", "client_id", "token_fingerprint", "http_status", "at",
            "unusual",
        ]
            + (proof == .beforeAndAfterwards ? ["was_active"] : [])
            + (proof == .none ? [] : ["evidence"]) + ["apple_request_id"]
    }
}

extension Revocation {
    /// The evidence: `unusual`, `was_active`, `evidence` and Apple's request id, as far as known.
    var proofMembers: [JSON.Member] {
        var members: [JSON.Member] = []
        if isUnusual { members.append(.init("unusual", .boolean(true))) }
        if let wasActive { members.append(.init("was_active", .boolean(wasActive))) }
        if let evidence { members.append(.init("evidence", .string(evidence.rawValue))) }
        if let requestID { members.append(.init("apple_request_id", .string(requestID))) }
        return members
    }
}

extension Revocation {
    /// Why a refused refresh proves nothing.
    package static let unprovenMessage =
        "Apple took the revocation, and refused a refresh, as of any text that is no token: it does "
        + "not have the shape of one"
    /// How to find out.
    package static let unprovenHint =
        "with 'siwa revoke --check-first', a refresh before shows whether it is a token that works"

    /// Fails if the revocation was sent, and the refused refresh after it proves nothing.
    package func checkProof() throws(Diagnosis) {
        guard isUnproven else { return }
        throw Diagnosis.negative(
            .notConfirmed, Self.unprovenMessage, hints: [Self.unprovenHint], requestID: requestID)
    }
}
