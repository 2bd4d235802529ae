internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa public-key`: the public half of the private key.
struct PublicKeyCommand: Command {
    enum Format: String, CaseIterable, ParameterValue {
        case pem
        case jwk
        case derBase64 = "der-base64"
    }

    static let name = "public-key"
    static let abstract = "Print the public half of the private key."
    static let discussion = """
        Two .p8 files contain the same key if their public halves are equal. Use this to find the \
        file of a Key ID without showing a private key.
        """
    static let examples = [
        Example("siwa public-key --key AuthKey_K1L2M3N4P5.p8 --format jwk", "Print it as a JWK.")
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option(
                "format", \.format, value: "FORMAT", help: "The form in which to print the key.")
        ] + GlobalOptions.parameters(at: \.global)

    var global = GlobalOptions()
    var format = Format.pem

    func run(in world: World) async throws {
        let session = try Session(global, in: world)
        let key = try session.settings.loadKey(in: world)
        for warning in key.warnings { session.console.warn(warning) }
        let publicKey = key.publicKey
        let keyID = session.settings.text(.keyID)?.value ?? key.source.value.keyIDInName?.rawValue
        let value: JSON =
            switch format {
            case .pem: .string(String(try publicKey.pemRepresentation().dropLast()))
            case .jwk: publicKey.jwk(as: keyID)
            case .derBase64: .string(Base64.encode(try publicKey.derRepresentation()))
            }
        try session.report(
            Report(
                .object(
                    [.init("public_key", value), .init("format", .string(format.rawValue))]
                        + (keyID.map { [.init("key_id", .string($0))] } ?? [])),
                text: SecretText(value.string ?? value.text)))
    }
}
