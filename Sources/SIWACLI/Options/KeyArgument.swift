internal import SIWAApplication
internal import SIWACommandTable

/// The value of `--key`: the place of the private key, usually a path. The key itself is never part
/// of a command line.
enum KeyArgument: ParameterValue, Hashable {
    case file(String)
    case standardInput
    case environment(String)

    init?(argument: String) {
        switch SecretArgument(argument: argument) {
        case nil: return nil
        case .standardInput: self = .standardInput
        case .environment(let name): self = .environment(name)
        case .file(let path), .literal(let path): self = .file(path)
        }
    }

    /// The key's place as a setting.
    var source: PrivateKeySource {
        switch self {
        case .file(let path): .file(path)
        case .standardInput: .standardInput
        case .environment(let name): .variable(name)
        }
    }

    static var expectation: String { "a path, -, @PATH or @env:NAME" }

    var readsStandardInput: Bool { self == .standardInput }

    var argumentDescription: String {
        switch self {
        case .file(let path): path
        case .standardInput: "-"
        case .environment(let name): "@env:\(name)"
        }
    }
}
