/// Revokes a token an item and proves it when asked; see ``RevocationProof``.
public struct RevokeJob: BatchJob {
    private var credentials: Credentials
    private let baseURL: BaseURL
    private let isConfirming: Bool

    /// Speaks for `client` to the endpoints at `baseURL`.
    ///
    /// - Parameter isConfirming: refresh afterwards, and expect a refusal.
    public init(
        _ client: any ClientSecretSource, baseURL: BaseURL = .apple, isConfirming: Bool
    ) {
        credentials = Credentials(client)
        self.baseURL = baseURL
        self.isConfirming = isConfirming
    }

    /// The revocation of one token, or the refresh before or after it.
    public mutating func request(
        for item: inout TokenItem, at now: NumericDate
    ) throws(ClientSecretError) -> HTTPRequest {
        let secret = try credentials.secret(for: item.clientID, at: now)
        return proof(of: item).step.request(item.token, .refreshToken).filled(
            for: credentials.clientID(item.clientID), with: secret, at: baseURL)
    }

    /// What Apple said of it.
    public mutating func judge(
        _ response: HTTPResponse, for item: inout TokenItem, at now: NumericDate
    ) -> BatchVerdict<ItemOutcome<Revocation>> {
        var proof = proof(of: item)
        let step = proof.step
        let answer = response.judged(
            showing: response.redacting([item.token] + credentials.secrets(for: item.clientID)),
            read: step.read)
        let conclusion: RevocationProof.Conclusion
        switch answer {
        case .success(let accepted): conclusion = proof.take(accepted)
        case .failure(.refused(let refusal)) where refusal.code.concernsEveryItem:
            return .stop(.refused(refusal))
        case .failure(.refused(let refusal)): conclusion = proof.take(refusal)
        case .failure(let cause): return .trouble(cause)
        }
        item.proof = proof
        return switch conclusion {
        case .next: .next
        case .known(let revocation) where revocation.isDead: .finished(.done(revocation))
        case .known(let revocation): .held(.done(revocation))
        case .refused(let refusal): .held(.refused(refusal))
        }
    }

    /// The proof of an item: one that an earlier run may have revoked is refreshed first, and sent
    /// again only when it still works.
    private func proof(of item: TokenItem) -> RevocationProof {
        item.proof ?? RevocationProof(.init(before: item.isInDoubt, afterwards: isConfirming))
    }
}

extension Revocation.Proof {
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
