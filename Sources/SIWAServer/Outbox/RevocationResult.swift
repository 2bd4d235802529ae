internal import SIWAApplication
import SIWAJOSE
internal import SIWALifecycle
import SIWAServerRecords
internal import SIWAVaultRecords

extension RevocationStatus {
    /// The state of the request and, after its end, the members that `siwa revoke` prints.
    var resultMembers: [JSON.Member] {
        let result =
            state == .pending
            ? [.init("revoked", false)] + .otherClients(clientsWithoutProfile) : revokeMembers
        let names = ["tokens"] + result.map(\.name)
        return members.filter { !names.contains($0.name) } + result
    }

    /// The members that `siwa revoke` prints; only after the end.
    var revokeMembers: [JSON.Member] {
        let endedAt = endedAt ?? request.requestedAt
        // The user may have been erased since.
        if request.userID != nil || jobs.count > 1 {
            return StoredRevocationReport(
                jobs.map(\.outcome), of: request.userID, at: endedAt
            ).members + .otherClients(clientsWithoutProfile)
        }
        guard let job = jobs.first else { return [] }
        return RevocationReport(
            job.revocation, ofToken: job.fingerprint.rawValue,
            job.kind == .accessToken ? .accessToken : .refreshToken, job.clientID,
            at: job.endedAt ?? endedAt
        ).members
    }

    /// The clients of tokens that were not revoked because no profile has their client.
    private var clientsWithoutProfile: [ClientID] {
        var clients: [ClientID] = []
        for job in jobs where job.state != .revoked && job.waitsForProfile {
            if !clients.contains(job.clientID) { clients.append(job.clientID) }
        }
        return clients
    }

    /// The error of a request with a code that yielded no token to revoke; nil for other requests.
    ///
    /// - Parameter clients: say what to do if Apple refused the client.
    func codeFailure(_ clients: ProfileClients) -> Diagnosis? {
        guard request.userID == nil, let job = jobs.first, job.kind == .code else { return nil }
        guard [.unknown, .dead].contains(job.state) else { return nil }
        guard let failure = job.lastError else { return .codeMayBeSpent() }
        if let refused = clients[job.clientID]?.refusal(failure.code) { return refused }
        return Diagnosis(
            recorded: failure.code, failure.message,
            hints: ["ask the user to sign in again, and use the new code"],
            exitCode: .grantRefused)
    }
}

extension ProfileClient {
    /// What it means that Apple refused this client when it was to exchange a code; nil if `code`
    /// refuses something else.
    fileprivate func refusal(_ code: String) -> Diagnosis? {
        let error = AppleError(AppleError.Code(rawValue: code))
        var diagnosis = diagnosis(
            of: TokenFailure(cause: .refused(error), request: .exchange, attempts: 1),
            hasRedirectURI: redirectURI != nil)
        // Not stored.
        diagnosis.status = nil
        return diagnosis.exitCode == .clientRefused ? diagnosis : nil
    }
}

extension RevocationJob {
    /// The result of the revocation; without evidence if the token may still work.
    fileprivate var revocation: Revocation {
        var revocation = state == .revoked ? progress : Revocation(wasActive: progress.wasActive)
        revocation.isUnusual = isUnusual
        return revocation
    }

    fileprivate var outcome: TokenOutcome {
        let failure: Diagnosis? =
            if state == .revoked {
                nil
            } else if waitsForProfile {
                .withoutProfile(clientID)
            } else {
                Diagnosis(
                    .notRevoked, lastError?.description ?? "the token was not revoked",
                    hints: ["repeat the request to start again"], exitCode: .temporary)
            }
        return TokenOutcome(
            fingerprint, of: clientID, state == .revoked ? revocation : nil,
            at: endedAt ?? createdAt, failure: failure)
    }
}

extension Diagnosis {
    /// No profile has the client of a token.
    static func withoutProfile(_ clientID: ClientID) -> Diagnosis {
        Diagnosis(
            .clientWithoutProfile, "no profile has client_id \(clientID)",
            hints: [
                "add a profile with this client_id to the configuration, and reload",
                "or, if the client no longer exists, remove the token: siwa vault remove",
            ], exitCode: .clientRefused)
    }
}
