import SIWAApplication
internal import SIWACrypto
import SIWALifecycle
import SIWAServerRecords
internal import Synchronization

/// Looks up API tokens and their scopes.
final class APITokens: Sendable {
    private let access: StoreAccess
    private let clocks: Clocks
    private let log: ServiceLog
    private let list = Mutex<APITokenList?>(nil)
    private let readings = JoinedCalls<Int, Result<APITokenList, StoreError>>()

    /// Reads the tokens when they are first needed.
    init(_ access: StoreAccess, clocks: Clocks, log: @escaping ServiceLog) {
        (self.access, self.clocks, self.log) = (access, clocks, log)
    }

    /// The scopes of the token in an `Authorization` field.
    ///
    /// - Throws: ``Diagnosis`` with the code `unauthorized`, or of the database.
    func scopes(_ authorization: String?) async throws(Diagnosis) -> Set<APIScope> {
        guard let text = APITokenText.bearer(authorization) else {
            throw .unauthorized("the field Authorization: Bearer is missing")
        }
        do {
            let digest = try APITokenText.digest(of: text)
            if let token = fresh?.token(digest, at: clocks.now()) { return token.scopes }
            // It may have been added since the last reading.
            if let token = try await read().token(digest, at: clocks.now()) { return token.scopes }
        } catch {
            throw Diagnosis(error)
        }
        throw .unauthorized("the token is unknown, removed or expired")
    }

    /// The tokens as last read, unless that is too long ago.
    private var fresh: APITokenList? {
        list.withLock { $0 }.flatMap { $0.isFresh(at: clocks.timekeeper.elapsed()) ? $0 : nil }
    }

    /// Reads the tokens. Concurrent callers share a reading that starts after their calls.
    private func read() async throws(StoreError) -> APITokenList {
        let calledAt = clocks.timekeeper.elapsed()
        while true {
            let list = try await joinReading()
            if list.readAt >= calledAt { return list }
        }
    }

    private func joinReading() async throws(StoreError) -> APITokenList {
        let elapsed = clocks.timekeeper.elapsed
        let read = await readings.join(0) { [access] in
            let readAt = elapsed()
            do throws(StoreError) {
                let page = try await access.run { store throws(StoreError) in
                    try store.apiTokens()
                }
                return .success(
                    APITokenList(page.tokens, damaged: page.damaged, readAt: readAt))
            } catch {
                return .failure(error)
            }
        }
        let list = try read.get()
        let known = self.list.withLock { old in
            defer { old = list }
            return old?.damaged ?? []
        }
        // Each damaged row once, not every few seconds.
        for error in list.damaged where !known.contains(error) { log(.damagedRow(error)) }
        return list
    }
}

extension Diagnosis {
    /// A call over TCP without a valid token.
    static func unauthorized(_ message: String) -> Diagnosis {
        Diagnosis(
            .unauthorized, message,
            hints: ["create a token: siwa-server token add NAME --scope SCOPE"], exitCode: .usage,
            apiStatus: .unauthorized)
    }
}
