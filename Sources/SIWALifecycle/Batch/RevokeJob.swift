package import SIWAJOSE

/// Revokes the token of each item, and proves it if asked to; see ``RevocationProof``.
package struct RevokeJob: BatchJob {
    private let secrets: ClientSecretCache
    private let baseURL: BaseURL
    private let isConfirming: Bool

    /// Sends requests as `client` to the endpoints at `baseURL`.
    ///
    /// - Parameter isConfirming: refresh afterwards, and expect a refusal.
    package init(
        _ client: any ClientSecretSource, baseURL: BaseURL = .apple, isConfirming: Bool
    ) {
        self.init(ClientSecretCache(client), baseURL: baseURL, isConfirming: isConfirming)
    }

    /// Sends requests with these secrets.
    package init(_ secrets: ClientSecretCache, baseURL: BaseURL, isConfirming: Bool) {
        self.secrets = secrets
        self.baseURL = baseURL
        self.isConfirming = isConfirming
    }

    /// The request of the current step of an item's proof.
    package mutating func request(
        for item: inout TokenItem, at now: NumericDate
    ) throws(ClientSecretError) -> HTTPRequest {
        let request = proof(of: item).step.request(item.token, .refreshToken)
        return request.carrying(
            try secrets.form(of: request, for: item.clientID, at: now), to: baseURL)
    }

    /// Reads the acceptance of the current step.
    package func read(_ response: HTTPResponse, for item: TokenItem) -> AcceptedAnswer? {
        proof(of: item).step.read(response)
    }

    /// Advances the proof. The result of a token that may still be valid is held.
    package mutating func conclude(
        _ answer: ItemOutcome<AcceptedAnswer>, for item: inout TokenItem, at now: NumericDate
    ) -> BatchVerdict<ItemOutcome<Revocation>> {
        var proof = proof(of: item)
        let conclusion =
            switch answer {
            case .done(let accepted): proof.take(accepted)
            case .refused(let refusal): proof.take(refusal)
            }
        item.proof = proof
        return switch conclusion {
        case .next: .next
        case .known(let revocation): verdict(revocation, item)
        case .refused(let refusal): .held(.refused(refusal))
        }
    }

    private func verdict(
        _ revocation: Revocation, _ item: TokenItem
    ) -> BatchVerdict<ItemOutcome<Revocation>> {
        var revocation = revocation
        revocation.isUnusual = item.look.isUnusual
        if revocation.isUnproven { return .aside(.done(revocation)) }
        return revocation.isDead ? .finished(.done(revocation)) : .held(.done(revocation))
    }

    /// The proof of an item. A token that an earlier run may have revoked is refreshed first, and
    /// revoked again only if it still works.
    private func proof(of item: TokenItem) -> RevocationProof {
        item.proof
            ?? RevocationProof(
                Revocation.Proof(before: item.isInDoubt, afterwards: isConfirming))
    }
}

extension Revocation.Proof {
    /// The proof that refreshes at these times.
    fileprivate init(before: Bool, afterwards: Bool) {
        self =
            switch (before, afterwards) {
            case (false, false): .none
            case (true, false): .before
            case (false, true): .afterwards
            case (true, true): .beforeAndAfterwards
            }
    }
}
