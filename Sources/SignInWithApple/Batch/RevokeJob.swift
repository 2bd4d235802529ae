/// Revokes a token an item and, when asked, makes sure of it.
public struct RevokeJob: BatchJob {
    private var credentials: Credentials
    private let baseURL: BaseURL
    private let isConfirming: Bool

    /// Speaks for `client` to the endpoints at `baseURL`.
    ///
    /// - Parameter isConfirming: refresh afterwards, and expect a refusal; see ``Revocation``.
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
        let request: TokenRequest =
            item.revokedStatus == nil && !item.isInDoubt
            ? .revoke(item.token, .refreshToken) : .refresh(RefreshToken(item.token))
        return request.filled(
            for: credentials.clientID(item.clientID), with: secret, at: baseURL)
    }

    /// What Apple said of it.
    public mutating func judge(
        _ response: HTTPResponse, for item: inout TokenItem, at now: NumericDate
    ) -> BatchVerdict<ItemOutcome<Revocation>> {
        if item.isInDoubt { return settle(response, &item) }
        if let status = item.revokedStatus {
            return evidence(response, item, status: status)
        }
        // A page is no answer of Apple's, whatever its status says.
        let verdict = response.verdict(hiding: secrets(of: item)) {
            $0.isHTML
                ? nil : Revocation(status: $0.status, wasActive: item.wasActive, evidence: nil)
        }
        guard isConfirming, case .finished(.done) = verdict else { return verdict }
        item.revokedStatus = response.status
        return .next
    }

    private func secrets(of item: TokenItem) -> [SecretText] {
        [item.token] + credentials.secrets(for: item.clientID)
    }

    /// What the refresh of a token says that an earlier run may have revoked: it is sent again
    /// only when it still works.
    private func settle(
        _ response: HTTPResponse, _ item: inout TokenItem
    ) -> BatchVerdict<ItemOutcome<Revocation>> {
        let dead = Revocation(status: nil, wasActive: false, evidence: .refreshRejected)
        let verdict = response.verdict(hiding: secrets(of: item)) {
            TokenResponse($0.body).map { _ in dead }
        }
        switch verdict {
        case .finished(.done):
            (item.isInDoubt, item.wasActive) = (false, true)
            return .next
        case .finished(.refused(let error)) where error.code == .invalidGrant:
            return .finished(.done(dead))
        default: return verdict
        }
    }

    private func evidence(
        _ response: HTTPResponse, _ item: TokenItem, status: Int
    ) -> BatchVerdict<ItemOutcome<Revocation>> {
        let verdict = response.verdict(hiding: secrets(of: item)) {
            TokenResponse($0.body).map { _ in
                Revocation(status: status, wasActive: item.wasActive, evidence: .refreshAccepted)
            }
        }
        guard case .finished(.refused(let error)) = verdict, error.code == .invalidGrant else {
            return verdict
        }
        return .finished(
            .done(
                Revocation(
                    status: status, wasActive: item.wasActive,
                    evidence: item.wasActive == true ? .acceptedThenRejected : .refreshRejected)))
    }
}
