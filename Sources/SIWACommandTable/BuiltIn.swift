/// The two flags that every command has and the parser answers itself.
enum BuiltIn {
    static let help = flag("help", short: "h", help: "Print this help.")
    static let version = flag("version", short: "V", help: "Print the version.")
    static let flags = [help, version]

    private static func flag(
        _ name: String, short: String? = nil, help: String
    ) -> ParameterInfo {
        ParameterInfo(
            kind: .flag, name: name, short: short, valueName: nil, help: help, arity: .optional,
            choices: [], expectation: "", isSecret: false, valuePrefixes: [], completion: .none,
            isGlobal: true)
    }
}

/// The request of the built-in flags of a line; help takes precedence over the version.
enum BuiltInRequest {
    case help
    case version

    init?(_ tokens: [Token]) {
        if tokens.contains(.flag(BuiltIn.help.name)) {
            self = .help
        } else if tokens.contains(.flag(BuiltIn.version.name)) {
            self = .version
        } else {
            return nil
        }
    }
}
