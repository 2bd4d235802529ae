internal import SIWACommandTable
package import SIWACrypto
package import SIWALifecycle
package import SIWASystem

extension SecretArgument {
    /// Reads the secret from its place, as exactly one line.
    ///
    /// - Parameters:
    ///   - name: the name in messages, such as `--token`.
    ///   - isStrict: whether a secret on the command line is refused, because every process
    ///     on the machine can read it there.
    ///   - isWhole: reads the whole file or standard input, as for a key in PEM; otherwise the
    ///     first line.
    package func resolve(
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
            }
        case .file(let path):
            bytes = try Self.reading(name) { () throws(FileError) in
                try world.files.read(path).contents
            }
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

/// A secret cannot be read from its place.
package struct UnreadableSecret: DiagnosableError {
    /// The name of the secret in messages.
    let name: String
    package let cause: FileError

    package var diagnosis: Diagnosis {
        Diagnosis(
            .configuration, "\(name): \(cause)",
            hints: cause.advice(or: "give a readable file: @PATH"),
            exitCode: .settings)
    }
}

/// The bytes before the first line end; the rest of a file is not the secret.
package func firstLine(_ bytes: SecretBytes) -> SecretBytes {
    var line = SecretBuffer(capacity: bytes.count)
    bytes.withSpan { bytes in
        let end = bytes.indices.first { bytes[$0] == 0x0A } ?? bytes.count
        let trimmed = end > 0 && bytes[end - 1] == 0x0D ? end - 1 : end
        for index in 0..<trimmed { line.append(bytes[index]) }
    }
    return line.finished()
}

/// The error if a variable is not set. With `@env:$TOKEN` in place of `@env:TOKEN`, the name is the
/// secret itself, which is not shown.
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
