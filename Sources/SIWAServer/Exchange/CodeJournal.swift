internal import SIWACrypto
internal import SIWAJOSE
import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// Writes the journal of codes. Answers are sealed with the vault's key. If the database fails, the
/// outcome of a code is written again until that succeeds.
final class CodeJournal: Sendable {
    private let access: StoreAccess
    private let vault: SharedVault
    private let clocks: Clocks
    private let owner: String
    private let log: ServiceLog
    /// The writes that must not be lost.
    let writes: DurableWrites

    /// - Parameters:
    ///   - keeper: keeps tokens while they wait to be stored; nil to keep them in memory.
    ///   - owner: identifies this run of this process.
    init(
        _ access: StoreAccess, _ vault: SharedVault, keeper: TokenKeeper? = nil, clocks: Clocks,
        owner: String, log: @escaping ServiceLog
    ) {
        (self.access, self.vault, self.clocks) = (access, vault, clocks)
        (self.owner, self.log) = (owner, log)
        writes = DurableWrites(access, keeper: keeper, log: log)
    }

    private var lease: Lease { Lease(owner: owner, duration: leaseDuration) }

    /// Decides about a request; a new code is leased to this process.
    func begin(_ request: CodeRequest) async throws(StoreError) -> CodeDecision {
        let lease = lease
        return try await access.run { store throws(StoreError) in
            try store.begin(request, for: lease)
        }
    }

    /// Runs `body` while the lease of a code is renewed.
    func renewing<Value: Sendable>(_ code: CodeDigest, _ body: () async -> Value) async -> Value {
        let (lease, access) = (lease, access)
        return await SIWAServer.renewing(
            by: clocks.timekeeper,
            {
                try? await access.run { store throws(StoreError) in
                    try store.renew([code], for: lease)
                }
            }, body)
    }

    /// Opens a stored answer; nil if it is damaged.
    func open(
        _ sealed: SealedSecret, _ code: CodeDigest, of clientID: ClientID
    ) throws(StoreError) -> ExchangeAnswer? {
        ExchangeAnswer(
            kept: try vault.with { vault throws(StoreError) in
                try vault.open(sealed, for: CodeEntry.place(of: code.bytes, clientID))
            })
    }

    /// Notes that a code was not sent, or that no response was received.
    func finish(_ request: CodeRequest, _ outcome: CodeOutcome) async {
        let owner = owner
        _ = await writes.write("code_not_noted") { store throws(StoreError) in
            try store.finish(request.code, outcome, by: owner)
        }
    }

    /// Notes the answer to a request.
    func finish(_ request: CodeRequest, _ answer: ExchangeAnswer) async {
        let (owner, vault) = (owner, vault)
        _ = await writes.write("code_not_noted") { store throws(StoreError) in
            let outcome = try vault.sealing { vault throws(StoreError) in
                try Self.outcome(answer, request, in: vault)
            }
            try store.finish(request.code, outcome, by: owner)
        }
    }

    /// Stores a token, and notes the answer in the same transaction; retries in the background if
    /// that fails. Events of the user that arrive before the token is stored concern it, too.
    ///
    /// - Parameters:
    ///   - signedInAt: the `iat` of the identity token; nil if that is not reliable.
    ///   - audiences: the `aud` of the notifications that concern the client.
    /// - Returns: whether the token is stored now.
    func store(
        _ token: RefreshToken, of user: VaultUser, signedInAt: NumericDate?,
        heeding audiences: [ClientID], _ request: CodeRequest, _ answer: ExchangeAnswer
    ) async -> Bool {
        let (owner, vault, now) = (owner, vault, clocks.now())
        let unsaved = UnsavedToken(
            token: token, user: user, signedInAt: signedInAt, receivedAt: now)
        return await writes.write("token_not_stored", losing: .token(unsaved)) {
            store throws(StoreError) in
            try vault.with { vault throws(StoreError) in
                let outcome = try Self.outcome(answer, request, in: vault)
                let finishing = store.vault(
                    finishing: request.code, outcome, by: owner, heeding: audiences)
                try vault.through(finishing).store(
                    token, for: user, signedInAt: signedInAt, at: now)
            }
        }
    }

    /// Erases answers that can no longer be repeated, ten minutes after Apple's response. Runs until
    /// cancelled.
    func keepErasing() async {
        while !Task.isCancelled {
            let limit = 500
            var next: Duration?
            do throws(StoreError) {
                next = try await access.run { store throws(StoreError) in
                    try store.eraseAnswers(limit: limit)
                }
            } catch {
                log(.databaseFailed(error))
                next = .seconds(10)
            }
            // An answer that is stored later is due later.
            let pause = min(next ?? CodeEntry.replayed, CodeEntry.replayed)
            try? await clocks.timekeeper.sleep(max(pause, .milliseconds(10)))
        }
    }

    /// The codes whose stored answers are about a user. Answers that cannot be opened may be, too.
    func codes(of userID: UserID) async throws(StoreError) -> [CodeDigest] {
        var (codes, last): ([CodeDigest], CodeDigest?) = ([], nil)
        while true {
            let after = last
            let page = try await access.run { store throws(StoreError) in
                try store.keptAnswers(after: after, limit: 500)
            }
            guard let next = page.last else { return codes }
            codes += page.filter { isAbout(userID, $0) }.map(\.code)
            last = next.code
        }
    }

    private func isAbout(_ userID: UserID, _ kept: KeptAnswer) -> Bool {
        guard let clientID = kept.clientID, let sealed = kept.answer,
            let answer = try? open(sealed, kept.code, of: clientID)
        else { return true }
        return answer.userID == userID
    }

    /// Waits until everything is in the database.
    func drain() async { await writes.drain() }

    private static func outcome(
        _ answer: ExchangeAnswer, _ request: CodeRequest, in vault: Vault
    ) throws(StoreError) -> CodeOutcome {
        .answered(
            try vault.seal(
                answer.kept, for: CodeEntry.place(of: request.code.bytes, request.clientID)))
    }
}
