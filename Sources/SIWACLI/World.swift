package import Lifecycle
package import LocalFiles
package import SIWACrypto
package import ServerRecords

/// Everything outside the program that a command may touch, as values: `RealWorld.swift` builds
/// the real one, a test builds its own.
package struct World: Sendable {
    /// The calendar and the stopwatch.
    package var clocks: Clocks { didSet { ending = Ending(signals, clocks.timekeeper) } }
    /// The environment.
    package var variables: @Sendable (String) -> String?
    /// How many threads can run at the same time.
    package var processors: Int
    /// Files and standard input.
    package var files: Files
    /// Standard output: only the result.
    package var output: @Sendable (SecretBytes) throws(FileError) -> Void
    /// Standard error: notes, traces and errors, a line each.
    package var errorLine: @Sendable (String) -> Void
    /// Takes warnings and notes in place of standard error.
    package var note: (@Sendable (String) -> Void)?
    /// Long inputs and outputs.
    package var streams: Streams
    /// The signals that ask the process to end.
    package var signals: Signals { didSet { ending = Ending(signals, clocks.timekeeper) } }
    /// Ends the running command in time after a signal; ``runSIWA(_:in:)`` makes one for each run.
    var ending: Ending
    /// Makes the network, once the settings are known.
    package var transport: @Sendable (TransportSettings) throws(TransportError) -> any FeedTransport
    /// Makes the store of a vault from its URL; opens it at the first call.
    package var vault: @Sendable (String, VaultTimeout) throws(VaultError) -> any VaultStore
    /// Makes the store of siwa-server's tables in a vault's database, likewise.
    package var serverStore: @Sendable (String, VaultTimeout) throws(VaultError) -> any ServerStore
    /// Shakes hands with the TLS server of a URL, whose host is given beside it, within a time.
    package var inspectTLS:
        @Sendable (String, String, TLSOffer, Duration, TransportSettings)
            async throws(TransportError) ->
            TLSHandshake = { _, _, _, _, _ throws(TransportError) in
                throw TransportError(.unavailable, "not provided", requestMayHaveLeft: false)
            }
    /// The terminals that results and messages are shown on; by default there are none.
    package var terminal = Terminal()
    /// Makes so many threads, of the process's own, for tasks that run in parallel.
    package var threads: @Sendable (Int) throws(FileError) -> any TaskExecutor = { _ in
        globalConcurrentExecutor
    }
    /// Shows a question on standard error and reads a line of standard input; nil without a
    /// terminal.
    package var ask: (@Sendable (String) throws(FileError) -> String)?
    /// What the command reports to Prometheus; ``runSIWA(_:in:)`` makes one for each run.
    var metrics = TaskMetrics()
    /// Runs a program to its end.
    package var runProgram: @Sendable (ChildProgram) throws(FileError) -> ProgramEnding = {
        program throws(FileError) in
        throw FileError("run", program.path, reason: "not provided")
    }
    /// Which command runs on which machine, for the history of a vault.
    package var actor = VaultActor(command: "", host: "")

    /// Puts a world together.
    package init(
        clocks: Clocks, variables: @escaping @Sendable (String) -> String?, processors: Int,
        files: Files,
        output: @escaping @Sendable (SecretBytes) throws(FileError) -> Void,
        errorLine: @escaping @Sendable (String) -> Void, streams: Streams,
        signals: Signals = .none,
        transport:
            @escaping @Sendable (TransportSettings) throws(TransportError) -> any FeedTransport,
        vault: @escaping @Sendable (String, VaultTimeout) throws(VaultError) -> any VaultStore,
        serverStore:
            @escaping @Sendable (String, VaultTimeout) throws(VaultError) -> any ServerStore
    ) {
        self.clocks = clocks
        self.variables = variables
        self.processors = processors
        self.files = files
        self.output = output
        self.errorLine = errorLine
        self.streams = streams
        self.signals = signals
        ending = Ending(signals, clocks.timekeeper)
        self.transport = transport
        self.vault = vault
        self.serverStore = serverStore
    }

    /// What the network needs to know.
    package struct TransportSettings: Sendable {
        /// A file of authorities to trust besides the system's.
        package let authorityFile: String?
        /// The environment, for the usual names of proxies and authorities.
        package let variables: @Sendable (String) -> String?
    }

    /// The file system, as far as commands use it.
    package struct Files: Sendable {
        /// Reads a whole file.
        package var read: @Sendable (String) throws(FileError) -> LocalFile
        /// Writes a file whole or not at all, for its owner alone.
        package var write: @Sendable (SecretBytes, String, SymbolicLink) throws(FileError) -> Void
        /// Writes a new file whole or not at all, for its owner alone; never over an old one.
        package var create: @Sendable (SecretBytes, String) throws(FileError) -> Void
        /// Whether a path exists.
        package var exists: @Sendable (String) -> Bool
        /// Whose a file is, and who may read and write it; nil when it cannot be looked at.
        package var status: @Sendable (String) -> FileStatus?
        /// The names in a folder; empty if it cannot be read.
        package var names: @Sendable (String) -> [String]
        /// Makes a folder, with its parents, that only its owner can write to.
        package var makeFolder: @Sendable (String) throws(FileError) -> Void
        /// Takes the lock of the file at a path; nil if another process holds it.
        package var tryLock: @Sendable (String) throws(FileError) -> FileLock?
        /// Reads the first line of standard input.
        package var readLine: @Sendable () throws(FileError) -> SecretBytes
        /// Reads standard input to its end.
        package var readAll: @Sendable () throws(FileError) -> SecretBytes
        /// Removes a file; a missing file is not an error.
        package var remove: @Sendable (String) throws(FileError) -> Void = {
            path throws(FileError) in
            throw FileError("remove", path, reason: "not provided")
        }
        /// Writes a file whole or not at all, readable by everybody.
        package var publish: @Sendable (SecretBytes, String) throws(FileError) -> Void = {
            _, path throws(FileError) in
            throw FileError("write", path, reason: "not provided")
        }
        /// Whether two paths denote the same folder.
        package var isSameFolder: @Sendable (String, String) -> Bool = { $0 == $1 }
        /// A path from the root, whatever the working directory.
        package var absolutePath: @Sendable (String) -> String = { $0 }

        /// Puts a file system together.
        package init(
            read: @escaping @Sendable (String) throws(FileError) -> LocalFile,
            write:
                @escaping @Sendable (SecretBytes, String, SymbolicLink) throws(FileError) -> Void,
            create: @escaping @Sendable (SecretBytes, String) throws(FileError) -> Void,
            exists: @escaping @Sendable (String) -> Bool,
            status: @escaping @Sendable (String) -> FileStatus?,
            names: @escaping @Sendable (String) -> [String],
            makeFolder: @escaping @Sendable (String) throws(FileError) -> Void,
            tryLock: @escaping @Sendable (String) throws(FileError) -> FileLock?,
            readLine: @escaping @Sendable () throws(FileError) -> SecretBytes,
            readAll: @escaping @Sendable () throws(FileError) -> SecretBytes
        ) {
            self.read = read
            self.write = write
            self.create = create
            self.exists = exists
            self.status = status
            self.names = names
            self.makeFolder = makeFolder
            self.tryLock = tryLock
            self.readLine = readLine
            self.readAll = readAll
        }
    }
}
