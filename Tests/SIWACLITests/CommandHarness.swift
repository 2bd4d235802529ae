import SIWACLI
import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWAApplication
@testable import SIWASystem

/// Runs commands with files in memory, a fixed clock and their own emulator.
struct CommandHarness: Sendable {
    let memory = Memory()
    let emulator: AppleEmulator
    let wire: Wire
    /// One vault for each harness, under every URL.
    let vault = MemoryVaultStore()
    /// Carries requests in place of the emulator.
    var carrier: (any FeedTransport)?
    /// The terminal that shows progress; nil without one.
    var progress: ProgressTerminal?

    init() async throws {
        let fixtures = try await Fixtures.shared.value
        emulator = AppleEmulator(
            configuration: fixtures.apple, keys: fixtures.emulatorKeys,
            clock: { [memory] in memory.with { $0.now } })
        wire = Wire(emulator, timekeeper: Self.timekeeper)
        memory.with {
            $0.variables = ["HOME": "/home/me", "SIWA_CONFIG": "/siwa/config.json"]
            $0.files["/siwa/config.json"] = .init(contents: Array(Fixtures.configuration.utf8))
            $0.files["/siwa/AuthKey_K1L2M3N4P5.p8"] = .init(contents: Array(fixtures.key.utf8))
            $0.files["/siwa/keys.json"] = .init(contents: fixtures.tokens.keySet.bytes)
        }
    }

    /// Waiting takes no time, and no time passes by itself.
    private static let timekeeper = Timekeeper(elapsed: { .zero }, sleep: { _ in })

    /// The world as a command sees it. Standard input is there only when a scenario gives some.
    var world: World {
        var world = World.refusing
        world.clocks = Clocks(
            now: { [memory] in memory.with { $0.now } }, timekeeper: Self.timekeeper)
        world.variables = { [memory] name in memory.with { $0.variables[name] } }
        world.isRoot = memory.with { $0.isRoot }
        putFiles(into: &world)
        world.runProgram = { [memory] program throws(FileError) in
            let (lines, ending) = memory.with { state in
                state.programs.append(program)
                return (state.programLines, state.ending)
            }
            for line in lines { program.output?(line) }
            return ending
        }
        if memory.with({ $0.answers != nil }) {
            world.ask = { [memory] question throws(FileError) in memory.answer(question) }
        }
        world.streams = .inside(memory)
        if let progress {
            world.clocks = Clocks(now: world.clocks.now, timekeeper: progress.timekeeper)
            world.streams.progress = progress.show
        }
        world.output = { [memory] bytes throws(FileError) in try memory.print(bytes) }
        world.reserveOutput = { [memory] _ throws(FileError) in try memory.reserve() }
        world.signals.received = { [memory] in memory.with { $0.signal } }
        world.errorLine = { [memory] line in memory.with { $0.errors.append(line) } }
        world.transport = { [memory, wire, carrier] settings throws(TransportError) in
            memory.with { $0.trusted += settings.authorityFile.map { [$0] } ?? [] }
            return carrier ?? FeedCarrier(wire)
        }
        world.vault = { [vault] _, _ throws(StoreError) in vault }
        return world
    }

    /// Replaces the file system, and standard input if a scenario has some, with the memory.
    private func putFiles(into world: inout World) {
        world.files.read = { [memory] path throws(FileError) in try memory.read(path) }
        world.files.write = { [memory] bytes, path, _ throws(FileError) in
            memory.write(bytes, to: path)
        }
        world.files.create = { [memory] bytes, path throws(FileError) in
            try memory.create(bytes, at: path)
        }
        world.files.exists = { [memory] path in memory.with { $0.files[path] != nil } }
        world.files.status = { [memory] path in try? memory.read(path).status }
        world.files.names = { [memory] folder in
            memory.with { $0.files.keys.filter { $0.hasPrefix(folder + "/") } }
                .map { String($0.dropFirst(folder.count + 1)) }.filter { !$0.contains("/") }
                .sorted()
        }
        world.files.makeFolder = { [memory] path in
            memory.with { $0.usesCache = $0.usesCache || path.hasSuffix(".cache/siwa") }
        }
        world.files.absolutePath = { $0.hasPrefix("/") ? $0 : "/data/" + $0 }
        world.files.remove = { [memory] path throws(FileError) in
            memory.with { _ = $0.files.removeValue(forKey: path) }
        }
        world.files.link = { [memory] _, path throws(FileError) in
            memory.write(SecretBytes([]), to: path)
        }
        world.files.readRegular = { [memory] path throws(FileError) in try memory.read(path) }
        world.files.checkReplacement = { [memory] path, rule throws(FileError) in
            try memory.check(path, rule)
        }
        world.files.replace = { [memory] bytes, path, rule throws(FileError) in
            try memory.replace(path, with: bytes, rule)
        }
        world.files.writeAll = { [memory] files, folder throws(FileError) in
            for file in files {
                memory.with {
                    $0.files["\(folder)/\(file.name)"] = .init(contents: file.contents.revealed())
                }
            }
        }
        world.files.tryLock = { [memory] path in memory.lock(path) }
        guard let input = memory.with({ $0.input }) else { return }
        let line = input.prefix { $0 != 0x0A }
        world.files.readLine = { () throws(FileError) in SecretBytes(line).withoutByteOrderMark }
        world.files.readAll = { () throws(FileError) in SecretBytes(input).withoutByteOrderMark }
    }

    /// Runs one command line, and checks the invariants of every run.
    func run(_ arguments: [String]) async -> Outcome {
        memory.with {
            ($0.output, $0.errors, $0.written, $0.trusted) = ([], [], [], [])
            $0.programs = []
            $0.usesCache = false
            $0.signal = nil
        }
        let sentBefore = wire.sent
        let exitCode = await runSIWA(arguments, in: world)
        let outcome = memory.with { state in
            Outcome(
                arguments: arguments, exitCode: exitCode,
                output: String(decoding: state.output, as: UTF8.self), errors: state.errors,
                sent: wire.sent - sentBefore, written: state.written, trusted: state.trusted,
                usesCache: state.usesCache, programs: state.programs.map(\.path))
        }
        Invariants(outcome, secrets: secrets(among: arguments)).check()
        memory.with { ($0.input, $0.signalWhilePrinting) = (nil, nil) }
        return outcome
    }

    /// Signs a user in, and returns the values that the app receives.
    func signIn(
        _ client: String, _ extra: JSON = [:]
    ) async throws -> (code: String, identityToken: String) {
        let members = [JSON.Member("client_id", .string(client))] + (extra.members ?? [])
        let answer = try await emulator.control("codes", .object(members))
        return (
            try #require(answer["code"]?.string), try #require(answer["id_token"]?.string)
        )
    }

    /// The texts that must not appear on standard error.
    private func secrets(among arguments: [String]) -> Set<String> {
        let state = memory.with { $0 }
        let texts = state.files.values.map { String(decoding: $0.contents, as: UTF8.self) }
        let keys = (texts + state.variables.values).filter { $0.contains("PRIVATE KEY") }
            .flatMap { $0.split { "\n\r\\".contains($0) } }.map(String.init)
            .filter { $0.count > 20 && !$0.hasPrefix("-----") }
        return wire.secrets.filter { !$0.isEmpty }.union(keys).union(typed(in: arguments, state))
            .union(vaultKeys(among: texts + state.variables.values)).union(["r-hush"])
    }

    /// What 64 hexadecimal digits can be in a harness.
    private func vaultKeys(among texts: [String]) -> [String] {
        texts.flatMap { $0.split { " \n,".contains($0) } }
            .filter { $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) }.map(String.init)
    }

    /// The secrets on the command line, or those that it points to.
    private func typed(in arguments: [String], _ state: Memory.State) -> [String] {
        let takers = [
            "--token", "--code", "--nonce", "--code-verifier", "--access-token", "--secret",
            "verify", "notification", "inspect",
        ]
        return zip(arguments, arguments.dropFirst()).compactMap { name, value in
            guard takers.contains(name) else { return nil }
            let text: String? =
                switch value {
                case "-": state.input.map { String(decoding: $0, as: UTF8.self) }
                case _ where value.hasPrefix("@env:"): state.variables[String(value.dropFirst(5))]
                case _ where value.hasPrefix("@"):
                    state.files[String(value.dropFirst())].map {
                        String(decoding: $0.contents, as: UTF8.self)
                    }
                default: value
                }
            return text?.split { "\r\n".contains($0) }.first.map(String.init)
        }.filter { $0.count > 5 }
    }
}

/// The results of one run.
struct Outcome: Sendable {
    let arguments: [String]
    let exitCode: CInt
    let output: String
    let errors: [String]
    let sent: Int
    let written: [String]
    let trusted: [String]
    var usesCache = false
    var programs: [String] = []
}
