internal import SIWAApplication
internal import SIWADiagnosis
internal import SIWALifecycle

/// Checks client secrets claim by claim: one minted here, and one that another machine minted.
struct SecretCheck: Sendable {
    private let context: DoctorContext

    init(_ context: DoctorContext) { self.context = context }

    var lines: [CheckLine] { minted + given }

    private var minted: [CheckLine] {
        guard let client = context.client else {
            return [
                CheckLine("client_secret", .skipped, "no secret can be minted with these settings")
            ]
        }
        do {
            let secret = try client.client.mintSecret(at: context.now)
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

    private var given: [CheckLine] {
        if let fault = context.givenFault { return [CheckLine("given_secret", fault)] }
        guard let secret = context.given else { return [] }
        let findings = ClientSecretFindings(
            in: secret, expecting: context.expected, at: context.now)
        return CheckLine.lines("given_secret", findings.all, otherwise: Self.good)
    }

    private static let good = "alg, kid, iss, sub, aud, times and signature are correct"
}
