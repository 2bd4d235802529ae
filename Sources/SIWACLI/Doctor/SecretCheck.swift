internal import SIWAApplication
internal import SIWADiagnosis
internal import SIWALifecycle

/// Checks client secrets claim by claim: one minted here, and one that another machine minted.
struct SecretCheck: Sendable {
    private let context: DoctorContext

    init(_ context: DoctorContext) { self.context = context }

    func lines() async -> [CheckLine] { await minted() + given }

    private func minted() async -> [CheckLine] {
        guard let client = context.client else {
            return [
                CheckLine("client_secret", .skipped, "no secret can be minted with these settings")
            ]
        }
        do {
            // A signer has been asked by another check.
            guard !client.key.isElsewhere else { return try drafted(client.client) }
            let secret = try await client.client.mintSecret(at: context.now)
            let findings = ClientSecretFindings(
                in: secret.text, expecting: context.expected, at: context.now)
            return CheckLine.lines("client_secret", findings.all, otherwise: Self.good)
        } catch {
            let diagnosis = Diagnosis(error)
            return [
                CheckLine(
                    "client_secret", .failed, diagnosis.message, advice: diagnosis.hints.first)
            ]
        }
    }

    private func drafted(_ client: Client) throws(ClientSecretError) -> [CheckLine] {
        var expected = context.expected
        expected.key = nil
        let findings = ClientSecretFindings(
            in: try client.draftSecret(at: context.now), expecting: expected, at: context.now)
        return CheckLine.lines(
            "client_secret", findings.all,
            otherwise: "alg, kid, iss, sub, aud and times are correct")
    }

    private var given: [CheckLine] {
        if let fault = context.givenFault { return [CheckLine("given_secret", fault)] }
        guard let secret = context.given else { return [] }
        let findings = ClientSecretFindings(
            in: secret, expecting: context.expected, at: context.now)
        return CheckLine.lines("given_secret", findings.all, otherwise: Self.good)
    }

    private static let good = "alg, kid, iss, sub, aud, times and signature are correct"
}
