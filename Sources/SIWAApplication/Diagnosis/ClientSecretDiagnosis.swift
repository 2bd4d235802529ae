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
        case .signing:
            Diagnosis(
                .key, description,
                hints: ["download the .p8 again: the file is damaged"], exitCode: .settings)
        case .signer(let failure):
            Diagnosis(
                failure.isTemporary ? .signerUnavailable : .signerRefused, description,
                hints: [
                    failure.isTemporary
                        ? "nothing was sent; try again when the signer answers"
                        : "nothing was sent; ask the signer's log why it did not sign"
                ],
                exitCode: failure.isTemporary ? .temporary : .settings)
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
