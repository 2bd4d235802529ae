import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// Exchanges codes for callers of the API. A code is sent to Apple at most once, even if callers
/// repeat a request, replicas get the same code, or a process crashes.
final class ExchangeService: Sendable {
    private let journal: CodeJournal
    private let keys: KeySource
    private let clients: @Sendable () -> ProfileClients
    private let clock: AppleClock
    private let clocks: Clocks
    private let log: ServiceLog
    private let running = JoinedCalls<CodeDigest, Result<ExchangeAnswer, Diagnosis>>()

    /// Finds the keys for an identity token by its `kid`; nil for a token that Apple did not sign.
    typealias KeySource = @Sendable (String?) async -> ExchangeVerification.Keys

    /// - Parameters:
    ///   - journal: stores the outcomes of codes.
    ///   - clock: judges the times of identity tokens.
    init(
        _ journal: CodeJournal, keys: @escaping KeySource,
        clients: @escaping @Sendable () -> ProfileClients, clock: AppleClock, clocks: Clocks,
        log: @escaping ServiceLog
    ) {
        (self.journal, self.keys, self.clients, self.clock) = (journal, keys, clients, clock)
        (self.clocks, self.log) = (clocks, log)
    }

    /// How long a repetition waits for the first request.
    private static let maxWait = Duration.seconds(35)
    private static let pause = Duration.milliseconds(200)

    /// Exchanges a code, or returns the answer to an earlier request with the same code.
    ///
    /// - Throws: ``Diagnosis`` if there is no answer.
    func exchange(_ input: ExchangeInput) async throws(Diagnosis) -> ExchangeAnswer {
        do {
            return try await answer(input, try input.request)
        } catch {
            throw Diagnosis(error)
        }
    }

    private func answer(
        _ input: ExchangeInput, _ request: CodeRequest
    ) async throws -> ExchangeAnswer {
        let deadline = Deadline(after: Self.maxWait, by: clocks.timekeeper)
        while true {
            switch try await journal.begin(request) {
            case .send:
                // The journal gave the code to this call alone.
                return try await running.startNext(request.code) {
                    await self.send(input, request)
                }.get()
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

    /// Waits until every code that was sent is answered.
    func drainSent() async { await running.drain() }

    /// Waits until every code that was sent is answered and its tokens are stored.
    func drain() async {
        await running.drain()
        await journal.drain()
    }
}

// Sending a code.
extension ExchangeService {
    private func send(
        _ input: ExchangeInput, _ request: CodeRequest
    ) async -> Result<ExchangeAnswer, Diagnosis> {
        await journal.renewing(request.code) {
            do throws(TokenFailure) {
                let response = try await input.client.tokens().exchange(
                    input.code, redirectURI: input.sentRedirectURI, codeVerifier: input.verifier)
                return .success(await self.keep(response, input, request))
            } catch {
                return await self.conclude(error, input, request)
            }
        }
    }

    /// Notes why there are no tokens.
    private func conclude(
        _ failure: TokenFailure, _ input: ExchangeInput, _ request: CodeRequest
    ) async -> Result<ExchangeAnswer, Diagnosis> {
        let diagnosis = input.diagnosis(of: failure)
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

    /// Stores the tokens and the answer in the same transaction.
    private func keep(
        _ response: TokenResponse, _ input: ExchangeInput, _ request: CodeRequest
    ) async -> ExchangeAnswer {
        let verification = await verify(response, input)
        func answer(isStored: Bool) -> ExchangeAnswer {
            self.answer(response, verification, input, isStored: isStored)
        }
        // Tokens of an invalid sign-in are not shown, so they must be stored: no other copy exists.
        guard input.isStoring || verification?.isValid == false else {
            await journal.finish(request, answer(isStored: false))
            return answer(isStored: false)
        }
        guard let token = response.refreshToken, let subject = verification?.namedUser,
            let user = try? VaultUser(input.client.clientID, validating: subject)
        else {
            log(ServiceEvent(.error, "token_not_stored", [.init("reason", "no usable user id")]))
            await journal.finish(request, answer(isStored: false))
            return answer(isStored: false)
        }
        // The vault refuses it each time.
        if let fault = token.fault {
            log(
                ServiceEvent(
                    .error, "token_not_stored",
                    [.init("reason", .string("Apple's refresh_token \(fault)"))]))
            await journal.finish(request, answer(isStored: false))
            return answer(isStored: false)
        }
        let isStored = await journal.store(
            token, of: user, signedInAt: verification?.signedInAt,
            heeding: clients().audiences(concerning: user.clientID), request,
            answer(isStored: true))
        return answer(isStored: isStored)
    }

    private func answer(
        _ response: TokenResponse, _ verification: IdentityTokenVerification?,
        _ input: ExchangeInput, isStored: Bool
    ) -> ExchangeAnswer {
        if let verification, !verification.isValid {
            return .refused(
                .identityTokenInvalid(
                    verification.failures, isStored: isStored, response.requestID))
        }
        return .exchanged(
            response.exchangeMembers(verification, at: clocks.now()),
            isStored: input.isStoring ? isStored : nil)
    }

    /// Nil if the response has no identity token and none was required.
    private func verify(
        _ response: TokenResponse, _ input: ExchangeInput
    ) async -> IdentityTokenVerification? {
        let rule = ExchangeVerification(
            audiences: input.client.audiences + [input.client.clientID.rawValue],
            nonce: input.nonce,
            // Profiles send requests over TLS with a verified certificate, or to loopback.
            isServerAuthenticated: true)
        let keys = await keys(response.verificationKeyID)
        let verification = rule.verify(response, by: keys, at: clock.times)
        if let verification, verification.isValid, !verification.isSigned {
            log(ServiceEvent(.warning, "signature_not_checked", []))
        }
        return verification
    }
}

extension IdentityTokenVerification {
    /// The user that the token names, even if checks failed; nil without a token.
    fileprivate var namedUser: String? { token?.claims[.sub]?.string }
}

extension RefreshToken {
    /// Why it could not be sent to Apple later; nil if it could.
    fileprivate var fault: OpaqueTokenError? {
        do throws(OpaqueTokenError) {
            try validateOpaqueToken(text)
            return nil
        } catch {
            return error
        }
    }
}

extension Diagnosis {
    /// Apple's identity token fails the checks.
    fileprivate static func identityTokenInvalid(
        _ failures: [TokenCheck], isStored: Bool, _ requestID: String?
    ) -> Diagnosis {
        let refusal = VerifiedSubject.identityToken.refusal(failures, hints: [])
        return Diagnosis(
            .identityTokenInvalid, refusal.message,
            hints: [
                isStored
                    ? "do not sign this user in; the refresh token is stored and not shown"
                    : "do not sign this user in; the refresh token is not shown, and not stored "
                        + "yet or not at all: see token_not_stored in the log"
            ],
            exitCode: .no, requestID: requestID)
    }
}
