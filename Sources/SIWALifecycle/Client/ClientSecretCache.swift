internal import SIWACrypto
package import SIWAJOSE
internal import Synchronization

/// The client_secrets of requests: obtained from their source once for each client, and again
/// before they expire.
///
/// A signer that has to be awaited is asked by one call for all. When a part of a secret's life is
/// over, it is asked in the background, and the old secret serves until it expires. After a failure it
/// is asked again after a second, then after two, and so on up to a minute; never again if it denied.
package final class ClientSecretCache: Sendable {
    private let source: any ClientSecretSource
    private let renewalMargin: Duration
    private let timekeeper: Timekeeper
    private let waitsForRetries: Bool
    private let minted: (@Sendable (ClientSecret) -> Void)?
    private let entries = Mutex<[String: Entry]>([:])

    /// Notified when a signer has answered or failed.
    package let answered = WakeSignal()

    /// A class, because every request looks them up: copying a structure takes longer.
    fileprivate final class Credentials: Sendable {
        let secret: ClientSecret
        let parameters: ClientParameters

        init(_ secret: ClientSecret, for clientID: ClientID) {
            self.secret = secret
            parameters = ClientParameters(clientID, secret.text)
        }
    }

    fileprivate struct Entry: Sendable {
        var known: Credentials?
        var isAsking = false
        /// Why the signer did not sign when it was last asked; nil if it did.
        var failure: ClientSecretError?
        var failures = 0
        /// When it may be asked again, by the timekeeper.
        var retryAt = Duration.zero
    }

    /// - Parameters:
    ///   - waitsForRetries: whether ``prepare(for:until:by:)`` waits while a signer is unavailable.
    ///   - minted: called with each new secret.
    package init(
        _ source: any ClientSecretSource, timekeeper: Timekeeper = .system,
        waitsForRetries: Bool = true, minted: (@Sendable (ClientSecret) -> Void)? = nil
    ) {
        (self.source, renewalMargin, self.minted) = (source, source.renewalMargin, minted)
        (self.timekeeper, self.waitsForRetries) = (timekeeper, waitsForRetries)
    }

    /// The client of a request; the source's client if it names none.
    func clientID(_ own: ClientID?) -> ClientID { own ?? source.clientID }

    /// The parameters of a client, whose secret will not expire before the request arrives.
    ///
    /// - Throws: ``ClientSecretError``; ``ClientSecretError/pending`` until a signer has answered,
    ///   which ``answered`` tells.
    func parameters(
        of own: ClientID?, at now: NumericDate
    ) throws(ClientSecretError) -> ClientParameters {
        let clientID = clientID(own)
        let (result, isToAsk) = try entries.withLock { entries throws(ClientSecretError) in
            if let entry = entries[clientID.rawValue], entry.failure == nil,
                let known = entry.known, known.secret.isValid(at: now, for: renewalMargin)
            {
                return (
                    Result<ClientParameters, ClientSecretError>.success(known.parameters), false
                )
            }
            if let secret = try source.secretAtOnce(for: clientID, at: now) {
                let new = Credentials(secret, for: clientID)
                minted?(secret)
                entries[clientID.rawValue] = Entry(known: new)
                return (.success(new.parameters), false)
            }
            var entry = entries[clientID.rawValue] ?? Entry()
            if let denial = Self.denial(in: entries) { entry.failure = denial }
            let isToAsk = entry.mayBeAsked(at: timekeeper.elapsed())
            if isToAsk { entry.isAsking = true }
            entries[clientID.rawValue] = entry
            return (entry.parameters(at: now), isToAsk)
        }
        if isToAsk { ask(for: clientID, at: now) }
        return try result.get()
    }

    /// When the secret of requests expires. A signer that has to be awaited is not asked.
    ///
    /// - Throws: ``ClientSecretError`` if there is none.
    package func expiry(at now: NumericDate) throws(ClientSecretError) -> NumericDate {
        try entries.withLock { entries throws(ClientSecretError) in
            let clientID = source.clientID
            let entry = entries[clientID.rawValue] ?? Entry()
            if let known = entry.known, known.secret.isValid(at: now, for: .zero) {
                return known.secret.expiresAt
            }
            guard let secret = try source.secretAtOnce(for: clientID, at: now) else {
                throw entry.failure ?? .pending
            }
            entries[clientID.rawValue] = Entry(known: Credentials(secret, for: clientID))
            minted?(secret)
            return secret.expiresAt
        }
    }

    /// Why the signer did not sign when it was last asked; nil if it did.
    package var failure: ClientSecretError? {
        entries.withLock { $0.values.lazy.compactMap(\.failure).first }
    }

    /// Why the signer must not be asked again, for any client: it denied; nil if it may.
    package var denial: ClientSecretError? { entries.withLock { Self.denial(in: $0) } }

    private static func denial(in entries: [String: Entry]) -> ClientSecretError? {
        entries.values.lazy.compactMap(\.failure).first(where: \.isFinal)
    }

    /// Waits until there is a secret of a client, which may mean to wait for a signer; called before
    /// each attempt at a request.
    ///
    /// - Throws: ``ClientSecretError``, also if there is none at the deadline.
    package func prepare(
        for own: ClientID? = nil, until deadline: Deadline, by clocks: Clocks
    ) async throws(ClientSecretError) {
        while true {
            let seen = answered.count
            do throws(ClientSecretError) {
                _ = try parameters(of: own, at: clocks.now())
                return
            } catch {
                guard error.isPending || waitsForRetries && error.mayPass,
                    await wait(for: clientID(own), after: seen, until: deadline, by: clocks)
                else { throw error }
            }
        }
    }

    /// Waits as ``prepare(for:until:by:)`` does.
    ///
    /// - Returns: the secret of requests.
    package func secret(
        until deadline: Deadline, by clocks: Clocks
    ) async throws(ClientSecretError) -> ClientSecret {
        try await prepare(until: deadline, by: clocks)
        guard let known = entries.withLock({ $0[source.clientID.rawValue]?.known }) else {
            throw .pending
        }
        return known.secret
    }

    /// Has a signer asked in the background, if it is time.
    package func renew(at now: NumericDate) { _ = try? parameters(of: nil, at: now) }

    /// Has another secret signed, which is not one of these. A signer that denied is not asked; one
    /// that failed is asked for the next of these secrets, so that it is known when it signs again.
    ///
    /// - Parameter client: has the key of these secrets.
    package func mint(
        _ client: Client, lifetime: Duration, at now: NumericDate
    ) async throws(ClientSecretError) -> ClientSecret {
        if let denial { throw denial }
        let clientID = client.clientID.rawValue
        do {
            let secret = try await client.mintSecret(
                at: now, lifetime: lifetime, timekeeper: timekeeper)
            entries.withLock { $0[clientID]?.forgetFailure() }
            return secret
        } catch {
            if case .signer = error {
                let now = timekeeper.elapsed()
                entries.withLock { $0[clientID, default: Entry()].note(error, at: now) }
            }
            throw error
        }
    }

    /// Uses the secrets of another cache, which has the same key, until they expire. A signer that
    /// failed is asked again at once, even if it denied.
    package func adopt(_ other: ClientSecretCache) {
        let old = other.entries.withLock { $0.filter { $0.value.known != nil } }
        entries.withLock { entries in
            for (clientID, entry) in old where entries[clientID] == nil {
                let failure = entry.failure.map { $0.isFinal ? .pending : $0 }
                entries[clientID] = Entry(known: entry.known, failure: failure)
            }
        }
    }

    /// The form of a request.
    func form(
        of request: TokenRequest, for own: ClientID? = nil, at now: NumericDate
    ) throws(ClientSecretError) -> Form {
        request.form(of: try parameters(of: own, at: now))
    }

    /// The form of a question during a transfer between teams.
    package func form(
        of question: MigrationRequest, at now: NumericDate
    ) throws(ClientSecretError) -> Form {
        question.form(of: try parameters(of: nil, at: now))
    }
}

// The signer that has to be awaited.
extension ClientSecretCache {
    /// Asks it in a task of its own: a call that leaves because its time is over ends nothing for the
    /// others.
    private func ask(for clientID: ClientID, at now: NumericDate) {
        Task { [self] in
            let result: Result<ClientSecret, ClientSecretError>
            do throws(ClientSecretError) {
                result = .success(
                    try await source.newSecret(for: clientID, at: now, timekeeper: timekeeper))
            } catch {
                result = .failure(error)
            }
            let now = timekeeper.elapsed()
            entries.withLock { entries in
                entries[clientID.rawValue, default: Entry()].take(result, for: clientID, at: now)
            }
            if case .success(let secret) = result { minted?(secret) }
            answered.notify()
        }
    }

    /// Waits for an answer, or until the signer may be asked again.
    ///
    /// - Returns: false if the deadline is over, or if the wait was ended.
    private func wait(
        for clientID: ClientID, after seen: Int, until deadline: Deadline, by clocks: Clocks
    ) async -> Bool {
        let entry = entries.withLock { $0[clientID.rawValue] } ?? Entry()
        let pause = max(entry.retryAt - timekeeper.elapsed(), .zero)
        guard deadline.remaining > .zero, entry.isAsking || pause < deadline.remaining else {
            return false
        }
        let limit = entry.isAsking ? deadline.remaining : pause
        let start = clocks.timekeeper.elapsed()
        await answered.wait(after: seen, atMost: limit, by: clocks.timekeeper)
        let isEnded =
            answered.count == seen && clocks.timekeeper.elapsed() - start < limit
        return deadline.remaining > .zero && !isEnded && !Task.isCancelled
    }
}

extension ClientSecretCache.Entry {
    func mayBeAsked(at now: Duration) -> Bool {
        guard !isAsking else { return false }
        return failure?.isFinal != true && now >= retryAt
    }

    func parameters(at now: NumericDate) -> Result<ClientParameters, ClientSecretError> {
        if let known, known.secret.isValid(at: now, for: .zero) {
            return .success(known.parameters)
        }
        return .failure(isAsking ? .pending : failure ?? .pending)
    }

    mutating func take(
        _ result: Result<ClientSecret, ClientSecretError>, for clientID: ClientID, at now: Duration
    ) {
        isAsking = false
        switch result {
        case .success(let secret):
            self = Self(known: ClientSecretCache.Credentials(secret, for: clientID))
        case .failure(let error): note(error, at: now)
        }
    }

    mutating func note(_ error: ClientSecretError, at now: Duration) {
        failure = error
        retryAt = now + min(.seconds(1 << min(failures, 6)), .seconds(60))
        failures += 1
    }

    mutating func forgetFailure() { (failure, failures, retryAt) = (nil, 0, .zero) }
}

extension ClientSecretError {
    var isPending: Bool { if case .pending = self { true } else { false } }

    /// Whether the signer must not be asked again.
    var isFinal: Bool {
        if case .signer(let failure) = self { failure.kind == .denied } else { false }
    }

    /// Whether the signer may sign later.
    package var mayPass: Bool {
        switch self {
        case .pending: true
        case .signer(let failure): failure.isTemporary
        default: false
        }
    }
}
