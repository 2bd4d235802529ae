internal import SIWAApplication
internal import SIWADiagnosis
internal import SIWAJOSE
internal import SIWALifecycle

/// Checks whether Apple accepts the secret; if not, whether it accepts other candidates.
struct ProbeCheck: Sendable {
    let lines: [CheckLine]
    /// What Apple said of the secret.
    let answer: Answer

    /// What Apple says of a secret.
    enum Answer: Sendable {
        /// Nobody asked.
        case notAsked
        /// It is good.
        case accepted
        /// It is refused, or the answer does not show it.
        case unclear
        /// There was no answer, or that of an outage.
        case outage
    }

    init(_ context: DoctorContext, _ network: AppleConnection) async {
        let trial = Trial(
            context: context, probe: Probe(baseURL: network.baseURL, delivery: network.delivery))
        (lines, answer) = await trial.lines()
    }
}

/// The maximum number of requests of one check.
private struct Trial {
    let context: DoctorContext
    let probe: Probe

    /// Enough for a folder with many keys, without sending Apple many requests.
    private static let limit = 8

    func lines() async -> ([CheckLine], ProbeCheck.Answer) {
        let secret: SecretText
        let clientID: ClientID
        switch await subject() {
        case .nothing(let reason): return ([CheckLine("probe", .skipped, reason)], .unclear)
        case .secret(let text, let client): (secret, clientID) = (text, client)
        }
        switch await probe.verdict(on: secret, for: clientID) {
        case .accepted:
            let line = CheckLine(
                "probe", .ok, "Apple accepts the secret of \(clientID)", advice: transfer(clientID),
                confidence: .certain)
            return ([line], .accepted)
        case .unknown(let failure):
            let diagnosis = Diagnosis(RequestError(failure: failure, context: nil))
            let line = CheckLine(
                "probe", .warning, diagnosis.message, advice: Self.unproven, confidence: .possible)
            return ([line], diagnosis.exitCode == .temporary ? .outage : .unclear)
        case .refused:
            return ([refused(clientID)] + (await others()), .unclear)
        }
    }

    /// What an acceptance does not show if two teams have the client.
    private func transfer(_ clientID: ClientID) -> String? {
        let team = context.client?.client.teamID
        return context.localCandidates.otherProfiles.first {
            $0.clientID == clientID && $0.teamID != team
        }.map {
            """
            profile '\($0.name)' has this client under another team: Apple may accept both here, but codes \
            and tokens only of the team that owns the app
            """
        }
    }

    private static let unproven =
        "this does not show whether the secret is good: Apple documents the request for app transfers only"

    private enum Subject {
        case secret(SecretText, ClientID)
        case nothing(String)
    }

    /// The secret to check: the given one, or one that is minted here.
    private func subject() async -> Subject {
        if let given = context.given { return subject(given) }
        guard let client = context.client?.client,
            let secret = try? await client.mintSecret(at: context.now)
        else { return .nothing("there is no secret to test") }
        return .secret(secret.text, client.clientID)
    }

    /// A private key or a token that was pasted by mistake must not leave this machine.
    private func subject(_ given: SecretText) -> Subject {
        let inspection = Inspection(of: given, expecting: ExpectedClient(), at: context.now)
        guard inspection.recognition.kind == .clientSecret else {
            return .nothing("the text is not a client_secret, so it was not sent")
        }
        let named = inspection.token?.payload["sub"]?.string.map { ClientID(unchecked: $0) }
        guard let clientID = (try? context.clientID.get()) ?? named else {
            return .nothing("client_id is not set, so the secret was not tested")
        }
        return .secret(SecretText(firstLine(given.bytes)), clientID)
    }

    private func refused(_ clientID: ClientID) -> CheckLine {
        let seen = "Apple refuses the secret of \(clientID): invalid_client"
        return CheckLine(
            "probe", .failed, confidence: .certain,
            Finding(
                .unknownToApple, .error, .possible, seen: seen,
                advice: """
                    fix what the checks above report; if they report nothing, compare key, Key ID, \
                    team and client with Apple's portal, and check whether the key was revoked there
                    """))
    }

    private func others() async -> [CheckLine] {
        guard let client = context.client?.client else { return [] }
        if context.given != nil, await isAccepted(client) {
            return [
                CheckLine(
                    "own_secret", .ok,
                    "Apple accepts a secret minted here: the software that minted the other one is at fault",
                    confidence: .certain)
            ]
        }
        let candidates = Candidate.all(beside: client, context.localCandidates).prefix(Self.limit)
        for candidate in candidates where await isAccepted(candidate.client) {
            return [
                CheckLine(
                    "other_combinations",
                    Finding(
                        .otherAccepted, seen: "Apple accepts \(candidate.name)",
                        advice: candidate.advice))
            ]
        }
        return [
            CheckLine(
                "other_combinations", .skipped,
                candidates.isEmpty
                    ? "no other key, team or client was found on this machine"
                    : "Apple also refuses "
                        + (candidates.count == 1
                            ? "the other combination" : "\(candidates.count) other combinations")
                        + " on this machine"
            )
        ]
    }

    private func isAccepted(_ client: Client) async -> Bool {
        guard let secret = try? await client.mintSecret(at: context.now) else { return false }
        if case .accepted = await probe.verdict(on: secret.text, for: client.clientID) {
            return true
        }
        return false
    }
}
