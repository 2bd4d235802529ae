internal import SIWAApplication
internal import SIWACLI
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import Synchronization

/// One run of siwa in memory: no file but those given, no network, a fixed clock.
struct CommandRun: Sendable {
    let exitCode: CInt
    let output: [UInt8]
    let errors: [String]

    /// - Parameter isDisconnected: whether files cannot be written and the network cannot be reached;
    ///   otherwise the run must not try.
    init(
        _ arguments: [String], variables: [String: String] = [:], files: [String: [UInt8]] = [:],
        input: [UInt8] = [], isDisconnected: Bool = false
    ) async {
        let recorder = RunRecorder(isDisconnected: isDisconnected)
        exitCode = await runSIWA(
            arguments, in: recorder.world(variables: variables, files: files, input: input))
        output = recorder.output.withLock { $0 }
        errors = recorder.errors.withLock { $0 }
    }

    /// The rules for every run.
    func check(allowing exitCodes: Set<CInt>) throws(Violation) {
        let said = errors.joined(separator: "\n")
        try demand(
            exitCodes.contains(exitCode), "exit \(exitCode) is not among \(exitCodes): \(said)")
        for line in errors {
            let isTame = line.unicodeScalars.allSatisfy {
                !($0.value < 0x20 || (0x7F..<0xA0).contains($0.value))
            }
            try demand(isTame, "no error drives a terminal: \(said)")
            try demand(line.unicodeScalars.count <= 1001, "no error is longer than a screen")
        }
        try demand(output.isEmpty || output.last == 0x0A, "a result ends in a line feed")
        try demand(exitCode < 2 || output.isEmpty, "a failed command prints no result")
        let isExplained = errors.contains { $0.hasPrefix("hint: ") }
        try demand(exitCode < 2 || isExplained, "an error says what to do: \(said)")
    }

    /// What was printed, read; nil when nothing was.
    func result() throws(Violation) -> JSON? {
        guard !output.isEmpty else { return nil }
        do {
            return try JSON(output)
        } catch {
            throw Violation("the result \(error)")
        }
    }
}

/// Where a run writes to.
private final class RunRecorder: Sendable {
    let output = Mutex<[UInt8]>([])
    let errors = Mutex<[String]>([])
    private let isDisconnected: Bool

    init(isDisconnected: Bool) { self.isDisconnected = isDisconnected }

    func world(
        variables: [String: String], files: [String: [UInt8]], input: [UInt8]
    ) -> World {
        World(
            clocks: Clocks(
                now: { NumericDate(1_800_000_000) },
                timekeeper: Timekeeper(elapsed: { .zero }, sleep: { _ in })),
            variables: { variables[$0] }, processors: 2,
            files: .init(
                read: { path throws(FileError) in
                    guard let contents = files[path] else {
                        throw FileError("read", path, reason: "there is no such file")
                    }
                    return LocalFile(
                        contents: SecretBytes(contents), status: FileStatus(permissions: 0o600))
                },
                write: { _, path, _ throws(FileError) in throw self.refusal("write", path) },
                create: { _, path throws(FileError) in throw self.refusal("create", path) },
                exists: { files[$0] != nil }, status: { _ in nil }, names: { _ in [] },
                makeFolder: { path throws(FileError) in throw self.refusal("create", path) },
                tryLock: { path throws(FileError) in throw self.refusal("lock", path) },
                readLine: { () throws(FileError) in SecretBytes(input.prefix { $0 != 0x0A }) },
                readAll: { () throws(FileError) in SecretBytes(input) }),
            output: { [self] bytes throws(FileError) in
                output.withLock { $0 += bytes.revealed() }
            },
            errorLine: { [self] line in errors.withLock { $0.append(line) } },
            streams: .init(
                lines: { path, _ throws(FileError) in
                    throw FileError("read", path ?? "-", reason: "there is no such file")
                },
                results: { path, _, _ throws(FileError) in throw self.refusal("write", path ?? "-")
                },
                hashes: { () throws(FileError) in throw self.refusal("create", "hashes") },
                slots: { () throws(FileError) in throw self.refusal("create", "slots") },
                spool: { SpoolFile(in: "/no/such/folder") },
                sort: { ExternalSort(in: "/no/such/folder") }),
            transport: { _ throws(TransportError) in
                guard self.isDisconnected else { fatalError("the network was used") }
                throw TransportError(.nameLookup, "there is no network", requestMayHaveLeft: false)
            },
            vault: { url, _ throws(StoreError) in
                guard self.isDisconnected else { fatalError("the vault was opened") }
                throw StoreError(.unreachable, "there is no vault at \(url)")
            },
            serverStore: { url, _ throws(StoreError) in
                guard self.isDisconnected else { fatalError("siwa-server's tables were opened") }
                throw StoreError(.unreachable, "there is no vault at \(url)")
            })
    }

    /// What is tried and must not be, or cannot be done.
    private func refusal(_ operation: String, _ path: String) -> FileError {
        guard isDisconnected else { fatalError("\(operation) \(path)") }
        return FileError(operation, path, reason: "read-only file system")
    }
}
