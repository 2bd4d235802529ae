internal import CommandTable
internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

extension SecretArgument {
    /// Reads the secret from where it is.
    ///
    /// - Parameters:
    ///   - name: what messages call it, such as `--token`.
    ///   - isStrict: whether a secret on the command line is refused, because every process
    ///     on the machine can read it there.
    func resolve(
        _ name: String, isStrict: Bool, in world: World
    ) throws -> SecretText {
        let bytes: SecretBytes
        switch self {
        case .literal(let text):
            guard !isStrict else {
                throw UsageError.Problem.misuse(
                    "\(name) stands on the command line, where every process can read it",
                    hint: "give it as -, @PATH or @env:NAME (--strict forbids anything else)")
            }
            bytes = SecretBytes(text.utf8)
        case .standardInput:
            bytes = try Self.reading(name) { () throws(FileError) in try world.files.readLine() }
        case .file(let path):
            bytes = try Self.reading(name) { () throws(FileError) in
                try world.files.read(path).contents
            }
        case .environment(let variable):
            guard let value = world.variables[variable] else {
                throw SettingsError(
                    "\(name) names the variable \(variable), which is not set",
                    hints: ["export \(variable) first"])
            }
            bytes = SecretBytes(value.utf8)
        }
        let line = firstLine(bytes)
        guard line.count > 0 else {
            throw UsageError.Problem.misuse(
                "\(name) is empty",
                hint: "check what was to fill it: a variable, a file, a pipe")
        }
        return SecretText(line)
    }

    private static func reading(
        _ name: String, _ read: () throws(FileError) -> SecretBytes
    ) throws(SettingsError) -> SecretBytes {
        do {
            return try read()
        } catch {
            throw SettingsError("\(name): \(error)", hints: ["name a file that can be read"])
        }
    }
}

/// What stands before the first line end; the rest of a file is not the secret.
func firstLine(_ bytes: SecretBytes) -> SecretBytes {
    var line = SecretBuffer(capacity: bytes.count)
    bytes.withSpan { bytes in
        let end = bytes.indices.first { bytes[$0] == 0x0A } ?? bytes.count
        let trimmed = end > 0 && bytes[end - 1] == 0x0D ? end - 1 : end
        for index in 0..<trimmed { line.append(bytes[index]) }
    }
    return line.finished()
}
