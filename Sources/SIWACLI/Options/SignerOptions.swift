internal import SIWAApplication
internal import SIWACommandTable

/// The value of `--signer`: where the signer is that has the private key.
enum SignerArgument: ParameterValue, Hashable {
    case exec(String)
    case socket(String)
    case sshAgent(String)

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let place = String(parts[1])
        switch parts[0] {
        case "exec" where place.hasPrefix("/"): self = .exec(place)
        case "socket": self = .socket(place)
        case "ssh-agent" where place.hasPrefix("SHA256:"): self = .sshAgent(place)
        default: return nil
        }
    }

    static var expectation: String { "exec:/PATH, socket:/PATH or ssh-agent:SHA256:…" }

    var argumentDescription: String {
        switch self {
        case .exec(let path): "exec:\(path)"
        case .socket(let path): "socket:\(path)"
        case .sshAgent(let fingerprint): "ssh-agent:\(fingerprint)"
        }
    }
}

/// The options that name a signer in place of a key file, for a trial without a configuration.
struct SignerOptions: Sendable {
    var signer: SignerArgument?
    var arguments: [String] = []
    var variables: [String] = []
    var timeout: DurationArgument?
    var publicKey: String?

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.rerooted(at: path) }
    }

    private static let all: [Parameter<Self>] = [
        .option(
            "signer", \.signer, value: "SIGNER",
            help: "Have exec:/PATH, socket:/PATH or ssh-agent:SHA256:… sign; replaces the key."),
        .option(
            "signer-arg", \.arguments, value: "ARG", help: "Give the program this argument, too."),
        .option(
            "signer-env", \.variables, value: "NAME[=VALUE]",
            help: "Give the program this variable, too."),
        .option(
            "signer-timeout", \.timeout, value: "DURATION",
            help: "Wait this long for a signature (10s unless set, at most 5m)."),
        .option(
            "public-key", \.publicKey, value: "FILE",
            help: "The public half of the signer's key: PEM, DER or a JWK.", completion: .file),
    ]

    /// The signer as a setting; nil without one.
    func setting() throws(SettingsError) -> SignerSetting? {
        guard let signer else {
            let other =
                !arguments.isEmpty
                ? "--signer-arg"
                : !variables.isEmpty
                    ? "--signer-env"
                    : timeout != nil
                        ? "--signer-timeout" : publicKey != nil ? "--public-key" : nil
            guard let other else { return nil }
            throw SettingsError(
                .usage, "\(other) needs --signer", hints: ["add --signer, or omit \(other)"])
        }
        guard let publicKey else {
            throw SettingsError(
                .usage, "--signer needs --public-key",
                hints: ["make the file from the key: siwa public-key --key AuthKey_….p8"])
        }
        return SignerSetting(
            try place(of: signer), publicKey: .file(publicKey),
            timeout: timeout?.argumentDescription)
    }

    private func place(of signer: SignerArgument) throws(SettingsError) -> SignerPlace {
        if case .exec(let path) = signer {
            return .exec(path, arguments: arguments, variables: variables)
        }
        guard arguments.isEmpty, variables.isEmpty else {
            throw SettingsError(
                .usage, "--signer-arg and --signer-env are for --signer exec:/PATH",
                hints: ["omit them: only a program has arguments and an environment"])
        }
        return switch signer {
        case .exec(let path): .exec(path, arguments: [], variables: [])
        case .socket(let path): .socket(path)
        case .sshAgent(let fingerprint): .sshAgent(fingerprint, socket: nil)
        }
    }
}
