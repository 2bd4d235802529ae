internal import SIWAJOSE
internal import SIWALifecycle

extension ClientSecretError: DiagnosableError {
    var diagnosis: Diagnosis {
        switch self {
        case .tooShort:
            Diagnosis(
                .usage, description,
                hints: ["give --lifetime or secret_lifetime a longer duration"], exitCode: .usage)
        case .tooLong:
            Diagnosis(
                .usage, description,
                hints: ["180d is inside the limit; a rotation by cron needs far less"],
                exitCode: .usage)
        case .signer(let failure): failure.diagnosis
        case .pending: SignerFailure(.unavailable, description).diagnosis
        case .expired:
            unusable(["mint a new one where the private key is: 'siwa secret --lifetime 30d'"])
        case .otherClient(let clientID):
            unusable(["give --client-secret one whose sub is \(clientID)"])
        case .unusable(let faults): unusable(faults.map(\.hint))
        }
    }

    private func unusable(_ hints: [String]) -> Diagnosis {
        Diagnosis(.clientSecret, description, hints: hints, exitCode: .settings)
    }
}
