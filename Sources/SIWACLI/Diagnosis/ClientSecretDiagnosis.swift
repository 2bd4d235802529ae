internal import JOSE
internal import Lifecycle

extension ClientSecretError: DiagnosableError {
    static let tooLongWords =
        "Apple accepts a client_secret for at most 15777000 s (six months, 182d14h30m)"

    var diagnosis: Diagnosis {
        switch self {
        case .tooShort:
            Diagnosis(
                "usage", "the lifetime of a client_secret must be at least a second",
                hints: ["give --lifetime or secret_lifetime a longer duration"], exitCode: .usage)
        case .tooLong:
            Diagnosis(
                "usage", Self.tooLongWords,
                hints: ["180d is inside the limit; a rotation by cron needs far less"],
                exitCode: .usage)
        case .signing(let reason):
            Diagnosis(
                "key", "the private key cannot sign: \(reason)",
                hints: ["download the .p8 again: the file is damaged"], exitCode: .settings)
        case .expired(let time):
            Self.unusable(
                "the client_secret expired at \(time.rfc3339)",
                ["mint a new one where the private key is: 'siwa secret --lifetime 30d'"])
        case .otherClient(let clientID):
            Self.unusable(
                "the client_secret is not for the client \(clientID)",
                ["give --client-secret one whose sub is \(clientID)"])
        case .unusable(let faults):
            Self.unusable(
                "the client_secret cannot be used: \(faults.first?.seen ?? "claims are missing")",
                faults.map(\.hint))
        }
    }

    private static func unusable(_ message: String, _ hints: [String]) -> Diagnosis {
        Diagnosis("client_secret", message, hints: hints, exitCode: .settings)
    }
}
