internal import SIWAJOSE
internal import SIWASystem

extension World {
    /// A file of the command line as messages name it: `siwa-admin` writes to the folder of the
    /// service, which the caller does not see.
    package func named(_ path: String) -> String {
        words.hasOwnFolder ? files.absolutePath(path) : path
    }
}

/// How messages name the files and the commands of the service that the packages make.
///
/// The service and `siwa-admin` work with copies of the files in `/etc/siwa` (systemd's
/// credentials), which a person cannot edit; and a command about the service's vault has to be run
/// as the service. Every message passes through here, so that no other code knows of either.
package struct ServiceWords: Sendable {
    /// The folder of the copies, with a slash at its end; nil if this process has none.
    private let copies: String?
    /// Whether the configuration in use is the service's.
    package let isService: Bool
    /// The command line, without the program.
    private let arguments: [String]
    /// Whether this process works in the folder of the service.
    var hasOwnFolder: Bool { copies != nil }
    /// Whether the configuration in use is the service's, and this process is not the service, nor `siwa-admin`.
    package var isServiceOfOthers: Bool { isService && copies == nil }

    /// Leaves messages as they are.
    package static let none = ServiceWords()

    /// - Parameters:
    ///   - copies: the folder of this process's copies, with a slash at its end.
    ///   - isService: whether the configuration in use is the service's.
    ///   - arguments: the command line, without the program.
    init(copies: String? = nil, isService: Bool = false, arguments: [String] = []) {
        (self.copies, self.isService, self.arguments) = (copies, isService, arguments)
    }

    /// - Parameter arguments: the command line, which can name the configuration.
    package init(_ world: World, _ arguments: [String] = []) {
        self.arguments = arguments
        let named = nonEmpty(world.variables("SIWA_CONFIG"))
        guard let named, world.isCredential(named), world.files.exists(Self.folder) else {
            copies = nil
            let path = ConfigurationPath(ProfileSelection(), in: world).path?.value
            isService =
                world.isRoot && Self.programs.contains(where: world.files.exists)
                && (path == Self.configuration
                    || arguments.contains { $0.hasSuffix(Self.configuration) })
            return
        }
        copies = SIWAApplication.folder(of: named) + "/"
        isService = true
    }

    /// The folder whose files the units load, each under its name.
    private static let folder = "/etc/siwa"
    private static let state = "/var/lib/siwa/"
    private static let configuration = folder + "/config.json"
    private static let programs = ["/usr/sbin/siwa-admin", "/usr/local/sbin/siwa-admin"]

    /// A message, with the files and the commands that a person can use.
    package func shown(_ text: String) -> String {
        let text = copies.map { text.replacingEvery($0, with: Self.folder + "/") } ?? text
        return isService ? Self.withInstalledPages(Self.withCommandsOfService(text)) : text
    }

    /// The runbooks where the package installs them.
    private static func withInstalledPages(_ text: String) -> String {
        var (result, rest) = ("", text[...])
        while let place = rest.firstPlace(of: " runbooks/") ?? rest.firstPlace(of: "(runbooks/") {
            let name = rest[place.upperBound...].prefix { $0.isLetter || $0 == "-" }
            result += rest[..<rest.index(after: place.lowerBound)] + ServerStatus.manual
            result += "runbooks/\(name).html"
            rest = rest[name.endIndex...]
        }
        return result + rest
    }

    /// The error, with the files and the commands that a person can use.
    ///
    /// - Parameter command: the program and the command that failed, such as `siwa-server check`.
    package func shown(_ diagnosis: Diagnosis, of command: String? = nil) -> Diagnosis {
        guard isService else { return diagnosis }
        return diagnosis.rewritten(
            hints: (missingCopy(diagnosis.message) ?? redirected(diagnosis.message, command)).map {
                [$0]
            }
                ?? diagnosis.hints
        ) { text in shown(command.map { naming($0, in: text) } ?? text) }
    }

    /// Names the whole command in a hint to run it as the service.
    private func naming(_ command: String, in text: String) -> String {
        guard isServiceOfOthers else { return text }
        return text.replacingEvery(Self.asService, with: "'\(command)' is as the service")
    }

    /// The words of a remedy that leads to `siwa-admin`.
    private static let asService = "'siwa-admin' is siwa as the service"

    /// What to do about a relative path of the configuration: the copies are in a folder of their
    /// own, and only what was loaded is there.
    ///
    /// - Parameter message: before it was rewritten.
    package func missingCopy(_ message: String) -> String? {
        guard let copies, let place = message.firstPlace(of: "'" + copies) else { return nil }
        let elsewhere = "give an absolute path in /var/lib/siwa: the service "
        guard message.holds("cannot read '" + copies) else {
            let isAbsent = ["there is no vault in '", "cannot be made", "cannot create '"]
                .contains(where: message.holds)
            return isAbsent ? elsewhere + "cannot write to \(Self.folder)" : nil
        }
        guard message.holds("no such file") else { return nil }
        let name = message[place.upperBound...].prefix { $0 != "'" }
        let source = Self.folder + "/" + name
        return elsewhere + """
            does not read \(Self.folder) itself; or create \(source), and add \
            LoadCredential=\(name):\(source) with 'systemctl edit siwa-server'
            """
    }

    /// What to do about a file of the caller of `siwa-admin`, which the service cannot open, or not by
    /// a relative path: the same command, with the file on standard input. Nil for a file that the
    /// command line does not name.
    private func redirected(_ message: String, _ command: String?) -> String? {
        guard let command, copies != nil, let place = message.firstPlace(of: "cannot read '") else {
            return nil
        }
        let file = String(message[place.upperBound...].prefix { $0 != "'" })
        let isElsewhere = !file.hasPrefix("/") && message.holds("no such file")
        guard isElsewhere || message.holds("permission denied"), !file.hasPrefix(Self.state),
            let argument = argument(naming: file)
        else { return nil }
        var words = command.split(separator: " ").map(String.init)
        let isWhole = arguments.count == words.count - 1 + argument.count
        if words.first == "siwa" { words.removeFirst() }
        let line = ["siwa-admin"] + words + argument.given + ["<", file.quotedForShell]
        return """
            siwa-admin opens files as the service; give it yours on standard input: \
            \(line.joined(separator: " "))\(isWhole ? "" : ", with the other arguments")
            """
    }

    /// The arguments that name a file, with `-` in its place; nil if none does, or if standard input
    /// cannot be in its place.
    private func argument(naming file: String) -> (given: [String], count: Int)? {
        for (index, argument) in arguments.enumerated() {
            let parts = argument.hasPrefix("--") ? argument.split(separator: "=", maxSplits: 1) : []
            let value = parts.count == 2 ? String(parts[1]) : argument
            guard value == file || value == "@" + file else { continue }
            let before = arguments.prefix(index).last.flatMap { $0.hasPrefix("--") ? $0 : nil }
            let option = parts.count == 2 ? String(parts[0]) : before
            guard let option else { return (["-"], 1) }
            return Self.filesOnly.contains(option)
                ? nil : ([option, "-"], parts.count == 2 ? 1 : 2)
        }
        return nil
    }

    /// The options that are read from a file, and not from standard input.
    private static let filesOnly: Set = ["--config", "--ca-file", "--jwks", "--public-key"]

    /// The commands whose files belong to the service. The others need none, or are for root.
    private static let commands =
        [
            "siwa vault", "siwa inbox", "siwa revocations", "siwa doctor", "siwa status",
            "siwa batch", "siwa config", "siwa refresh", "siwa revoke", "siwa exchange",
            "siwa keys",
            "siwa-server check", "siwa-server token", "siwa-server webhook-secret",
        ].map { Array($0.utf8) }
    private static let prefix = Array("siwa-admin ".utf8)

    private static func withCommandsOfService(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var position = 0
        while position < bytes.count {
            let rest = bytes[position...]
            let command = commands.first { name in
                rest.starts(with: name) && !rest.dropFirst(name.count).startsWithPartOfWord
            }
            if let command, result.last.map({ !$0.isPartOfWord && $0 != UInt8(ascii: "/") }) ?? true
            {
                if !result.suffix(prefix.count).elementsEqual(prefix) { result += prefix }
                // Only the words after "siwa " are the command of siwa-admin.
                result += command.starts(with: "siwa ".utf8) ? command.dropFirst(5) : command[...]
                position += command.count
            } else {
                result.append(bytes[position])
                position += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isPartOfWord: Bool {
        let character = Character(UnicodeScalar(self))
        return character.isLetter || character.isNumber || "-_".contains(character)
    }
}

extension ArraySlice<UInt8> {
    fileprivate var startsWithPartOfWord: Bool { first?.isPartOfWord ?? false }
}
