internal import CommandTable
internal import Lifecycle
internal import LocalFiles
internal import SIWACrypto

extension SecretArgument {
    /// Reads the secret from where it is, as exactly one line.
    ///
    /// - Parameters:
    ///   - name: what messages call it, such as `--token`.
    ///   - isStrict: whether a secret on the command line is refused, because every process
    ///     on the machine can read it there.
    ///   - isWhole: whether all of a file or of standard input is meant, as a key in PEM takes
    ///     many lines; otherwise the first line is.
    func resolve(
        _ name: String, isStrict: Bool, isWhole: Bool = false, in world: World
    ) throws -> SecretText {
        let bytes: SecretBytes
        switch self {
        case .literal(let text):
            guard !isStrict else {
                throw UsageError.Problem.misuse(
                    "\(name) is on the command line, where every process can read it",
                    hint: "give it as -, @PATH or @env:NAME (--strict forbids anything else)")
            }
            bytes = SecretBytes(text.utf8)
        case .standardInput:
            bytes = try Self.reading(name) { () throws(FileError) in
                try isWhole ? world.files.readAll() : world.files.readLine()
            }.withoutByteOrderMark
        case .file(let path):
            bytes = try Self.reading(name) { () throws(FileError) in
                try world.files.read(path).contents
            }.withoutByteOrderMark
        case .environment(let variable):
            guard let value = world.variables(variable) else {
                throw variableNotSet(variable, neededBy: name)
            }
            bytes = SecretBytes(value.utf8)
        }
        let secret = isWhole ? bytes : firstLine(bytes)
        guard secret.count > 0 else {
            throw UsageError.Problem.misuse(
                "\(name) is empty",
                hint: "check the variable, file or pipe that should supply it")
        }
        return SecretText(secret)
    }

    private static func reading(
        _ name: String, _ read: () throws(FileError) -> SecretBytes
    ) throws(UnreadableSecret) -> SecretBytes {
        do {
            return try read()
        } catch {
            throw UnreadableSecret(name: name, cause: error)
        }
    }
}

/// A secret cannot be read from where it is said to be.
struct UnreadableSecret: DiagnosableError {
    /// What messages call the secret.
    let name: String
    let cause: FileError

    var diagnosis: Diagnosis {
        Diagnosis(
            "configuration", "\(name): \(cause)", hints: ["give a readable file: @PATH"],
            exitCode: .settings)
    }
}

/// The bytes before the first line end; the rest of a file is not the secret.
func firstLine(_ bytes: SecretBytes) -> SecretBytes {
    var line = SecretBuffer(capacity: bytes.count)
    bytes.withSpan { bytes in
        let end = bytes.indices.first { bytes[$0] == 0x0A } ?? bytes.count
        let trimmed = end > 0 && bytes[end - 1] == 0x0D ? end - 1 : end
        for index in 0..<trimmed { line.append(bytes[index]) }
    }
    return line.finished()
}

/// `@env:$TOKEN` in place of `@env:TOKEN` names a variable after the secret: not shown.
func variableNotSet(_ variable: String, neededBy name: String) -> SettingsError {
    let isName = variable.utf8.allSatisfy {
        $0 == UInt8(ascii: "_") || Character(Unicode.Scalar($0)).isLetter
            || Character(Unicode.Scalar($0)).isNumber
    }
    guard isName, variable.utf8.count <= 100 else {
        return SettingsError(
            "\(name) has an invalid variable name (not shown)",
            hints: ["write @env:NAME, without a $"])
    }
    return SettingsError(
        "\(name) names the variable \(variable), which is not set",
        hints: ["export \(variable) first"])
}
