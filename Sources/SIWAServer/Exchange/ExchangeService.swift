package import JOSE
package import Lifecycle
package import SIWACLI
internal import SIWACrypto
internal import ServerRecords

/// Exchanges codes for callers of the API. A code is sent to Apple at most once, whatever callers,
/// other replicas and crashes do.
package final class ExchangeService: Sendable {
    private let journal: CodeJournal
    private let keys: KeySource
    private let clocks: Clocks
    private let log: ServiceLog
    private let running = JoinedCalls<CodeDigest, Result<ExchangeAnswer, Diagnosis>>()

    /// Finds the key set that verifies a token; nil if Apple's keys are not available.
    package typealias KeySource = @Sendable (CompactJWS) async -> KeySet?

    /// - Parameter journal: notes what becomes of codes.
    package init(
        _ journal: CodeJournal, keys: @escaping KeySource, clocks: Clocks,
        log: @escaping ServiceLog
    ) {
        (self.journal, self.keys, self.clocks, self.log) = (journal, keys, clocks, log)
    }

    /// How long a repeat waits for the request that it joins.
    private static let patience = Duration.seconds(35)
    private static let pause = Duration.milliseconds(200)

    /// Exchanges a code, or answers what an earlier request with the same code was answered.
    ///
    /// - Throws: ``Diagnosis`` if nothing was answered.
    package func exchange(_ order: ExchangeOrder) async throws(Diagnosis) -> ExchangeAnswer {
        do {
            return try await answer(order, try order.request)
        } catch {
            throw Diagnosis(error)
        }
    }

    private func answer(
        _ order: ExchangeOrder, _ request: CodeRequest
    ) async throws -> ExchangeAnswer {
        let deadline = Deadline(after: Self.patience, by: clocks.timekeeper)
        while true {
            switch try await journal.begin(request) {
            case .send:
                return try await running.join(request.code) { await self.send(order, request) }
                    .get()
            case .replay(let sealed, let clientID):
                guard let answer = try journal.open(sealed, request.code, of: clientID) else {
                    throw Diagnosis.codeAlreadySent
                }
                return answer.replayed
            case .conflict: throw Diagnosis.codeConflict
            case .alreadySent: throw Diagnosis.codeAlreadySent
            case .mayBeSpent: throw Diagnosis.codeMayBeSpent()
            case .wait:
                if let answer = await running.value(of: request.code) {
                    return try answer.get().replayed
                }
                guard deadline.remaining > Self.pause,
                    (try? await clocks.timekeeper.sleep(Self.pause)) != nil
                else { throw Diagnosis.inProgress }
            }
        }
    }

    /// Waits until every code that was sent is answered, and stored.
    package func drain() async {
        await running.drain()
        await journal.drain()
    }
}

// A code that this process sends.
extension ExchangeService {
    private func send(
        _ order: ExchangeOrder, _ request: CodeRequest
    ) async -> Result<ExchangeAnswer, Diagnosis> {
        await journal.renewing(request.code) {
            do throws(TokenFailure) {
                let response = try await order.client.tokens().exchange(
                    order.code, redirectURI: order.sentRedirectURI, codeVerifier: order.verifier)
                return .success(await self.keep(response, order, request))
            } catch {
                return await self.conclude(error, order, request)
            }
        }
    }

    /// There are no tokens: notes why.
    private func conclude(
        _ failure: TokenFailure, _ order: ExchangeOrder, _ request: CodeRequest
    ) async -> Result<ExchangeAnswer, Diagnosis> {
        let diagnosis = order.diagnosis(of: failure)
        if failure.isOutcomeUnknown {
            await journal.finish(request, .unanswered)
            return .failure(.codeMayBeSpent(diagnosis.message, hints: diagnosis.hints))
        }
        guard case .refused = failure.cause else {
            await journal.finish(request, .notSent)
            return .failure(diagnosis)
        }
        let answer = ExchangeAnswer.refused(diagnosis)
        await journal.finish(request, answer)
        return .success(answer)
    }

    /// Stores the tokens, and notes the answer in the same transaction.
    private func keep(
        _ response: TokenResponse, _ order: ExchangeOrder, _ request: CodeRequest
    ) async -> ExchangeAnswer {
        let keySet = await keySet(for: response)
        let check = IdentityTokenCheck(
            response, for: order.client, keySet: keySet, nonce: order.nonce, at: clocks.now())
        var answer = answer(response, check, order)
        // Tokens that are not shown are stored in any case: nobody else has them.
        guard order.isStoring || !check.failures.isEmpty else {
            await journal.finish(request, answer)
            return answer
        }
        guard let token = response.refreshToken, let subject = check.subject,
            let user = try? VaultUser(order.client.clientID, validating: subject.rawValue)
        else {
            log(ServiceEvent(.error, "token_not_stored", [.init("reason", "no usable user id")]))
            if answer.isStored != nil { answer.isStored = false }
            await journal.finish(request, answer)
            return answer
        }
        let isStored = await journal.store(token, of: user, request, answer)
        if !isStored, answer.isStored != nil { answer.isStored = false }
        return answer
    }

    private func answer(
        _ response: TokenResponse, _ check: IdentityTokenCheck, _ order: ExchangeOrder
    ) -> ExchangeAnswer {
        guard check.failures.isEmpty else {
            return .refused(.identityTokenInvalid(check.failures, response.requestID))
        }
        return .exchanged(
            response.exchangeMembers(of: check.userID, at: clocks.now())
                + [.init("checks", check.checks)],
            isStored: order.isStoring ? true : nil)
    }

    private func keySet(for response: TokenResponse) async -> KeySet? {
        guard let token = response.identityToken,
            let jws = try? CompactJWS(token.bytes.revealed())
        else { return nil }
        return await keys(jws)
    }
}

extension Diagnosis {
    /// Apple's identity token is not what the caller expects of it.
    fileprivate static func identityTokenInvalid(
        _ failures: [Check], _ requestID: String?
    ) -> Diagnosis {
        let refusal = VerifiedSubject.identityToken.refusal(failures, hints: [])
        return Diagnosis(
            "identity_token_invalid", refusal.message,
            hints: ["do not sign this user in; the refresh token is stored, and not shown"],
            exitCode: .no, requestID: requestID)
    }
}
