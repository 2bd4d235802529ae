internal import SignInWithApple

/// Secrets, claim by claim: one minted here, and one that somebody else minted.
struct SecretCheckup: Sendable {
    private let patient: Patient

    init(_ patient: Patient) { self.patient = patient }

    var lines: [CheckLine] { minted + given }

    private var minted: [CheckLine] {
        guard let client = patient.client else {
            return [CheckLine("client_secret", .skipped, "none can be minted with these settings")]
        }
        do {
            let secret = try client.client.mintSecret(at: patient.now)
            let findings = ClientSecretFindings(
                in: secret.text, expecting: patient.expected, at: patient.now)
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
        if let fault = patient.givenFault { return [CheckLine("given_secret", fault)] }
        guard let secret = patient.given else { return [] }
        let findings = ClientSecretFindings(
            in: secret, expecting: patient.expected, at: patient.now)
        return CheckLine.lines("given_secret", findings.all, otherwise: Self.good)
    }

    private static let good = "alg, kid, iss, sub, aud, times and signature are as they must be"
}
