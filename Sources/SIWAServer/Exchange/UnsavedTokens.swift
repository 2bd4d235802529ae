internal import JOSE
internal import Lifecycle
internal import Synchronization

/// The refresh tokens of this process that wait to be stored: no other copy may exist.
package final class UnsavedTokens: Sendable {
    /// A token that waits.
    struct Token: Sendable {
        let token: RefreshToken
        let user: VaultUser
        let signedInAt: NumericDate?
        let receivedAt: NumericDate

        /// The members of a log line about it.
        var logMembers: [JSON.Member] {
            [
                .init("client_id", .string(user.clientID.rawValue)),
                .init("user_id", .string(user.userID.rawValue)),
                .init("token_fingerprint", .string(token.text.fingerprint)),
            ]
        }
    }

    /// A token and whether it is being stored, is stored, or was saved elsewhere.
    private final class Entry: Sendable {
        let token: Token
        private let isDone = Mutex(false)

        init(_ token: Token) { self.token = token }

        /// Runs `body` unless the token is done with, which it is when `body` returns.
        func finish(_ body: () throws(VaultError) -> Void) throws(VaultError) {
            try isDone.withLock { isDone throws(VaultError) in
                guard !isDone else { return }
                try body()
                isDone = true
            }
        }

        /// Runs `body` unless the token is done with or is being stored.
        func finishIfIdle(_ body: () -> Bool) -> Bool {
            isDone.withLockIfAvailable { isDone in
                if !isDone { isDone = body() }
                return isDone
            } ?? false
        }
    }

    private struct State {
        var last = 0
        var entries: [Int: Entry] = [:]
        /// The tokens in the file that could not be stored at the start.
        var kept = 0
    }

    private let state = Mutex(State())

    /// Creates a list without tokens.
    package init() {}

    /// The number of tokens that are not in the vault.
    var count: Int { state.withLock { $0.entries.count + $0.kept } }

    /// Sets the number of tokens in the file that could not be stored.
    func keep(_ count: Int) { state.withLock { $0.kept = count } }

    /// Adds a token.
    ///
    /// - Returns: its number.
    func add(_ token: Token) -> Int {
        state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(token)
            return state.last
        }
    }

    /// Stores a token once, however often this is called.
    ///
    /// - Parameter change: stores it.
    func store(
        _ number: Int, _ change: () throws(VaultError) -> Void
    ) throws(VaultError) {
        guard let entry = state.withLock({ $0.entries[number] }) else { return }
        try entry.finish(change)
        state.withLock { _ = $0.entries.removeValue(forKey: number) }
    }

    /// Saves all tokens elsewhere; they are not stored any more.
    ///
    /// - Parameter save: returns whether it saved a token.
    /// - Returns: the tokens that it did not save.
    func end(saving save: (Token) -> Bool) -> [Token] {
        let entries = state.withLock { $0.entries.sorted { $0.key < $1.key } }
        return entries.filter { number, entry in
            guard entry.finishIfIdle({ save(entry.token) }) else { return true }
            state.withLock { _ = $0.entries.removeValue(forKey: number) }
            return false
        }.map(\.value.token)
    }
}
