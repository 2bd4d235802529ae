package import SIWACrypto
package import SIWALifecycle
package import SIWAServerRecords
package import SIWASystem
package import SIWAVaultRecords

/// The environment of a command as values: `SIWAWiring` creates the real one, and tests create
/// their own.
package struct World: Sendable {
    /// The wall clock and the monotonic clock.
    package var clocks: Clocks { didSet { ending = Ending(signals, clocks.timekeeper) } }
    /// Looks up a variable of the environment; nil if it is not set.
    package var variables: @Sendable (String) -> String?
    /// Whether the user of this process is root.
    package var isRoot = false
    /// The number of threads that can run at the same time.
    package var processors: Int
    /// Files and standard input.
    package var files: Files
    /// Standard output: only the result.
    package var output: @Sendable (SecretBytes) throws(FileError) -> Void
    /// Reserves space for a result of so many bytes on standard output, if it is a file.
    package var reserveOutput: @Sendable (Int) throws(FileError) -> Void = { _ in }
    /// Standard error: notes, traces and errors, one line each.
    package var errorLine: @Sendable (String) -> Void
    /// Takes warnings and notes in place of standard error.
    package var note: (@Sendable (String) -> Void)?
    /// How messages name the files and commands of the packages' service;
    /// ``runCommandLine(_:of:in:errorsAreJSON:_:)`` creates them for each run.
    package var words = ServiceWords.none
    /// Long inputs and outputs.
    package var streams: Streams
    /// The signals that ask the process to end.
    package var signals: Signals { didSet { ending = Ending(signals, clocks.timekeeper) } }
    /// Ends the running command in time after a signal; ``runCommandLine(_:of:in:errorsAreJSON:_:)`` creates one for each
    /// run.
    package var ending: Ending
    /// Creates the transport for the settings.
    package var transport: @Sendable (TransportSettings) throws(TransportError) -> any FeedTransport
    /// Creates the store of a vault from its URL; it is opened at the first call.
    package var vault: @Sendable (String, StoreTimeout) throws(StoreError) -> any VaultStore
    /// Creates the store of siwa-server's tables in a vault's database; it is opened at the first
    /// call.
    package var serverStore: @Sendable (String, StoreTimeout) throws(StoreError) -> ServerStore
    /// Creates the copy of a vault to another database; both are opened at the first call.
    package var vaultCopy:
        @Sendable (VaultCopyPlaces, StoreTimeout) throws(StoreError) -> any VaultCopying = {
            _, _ throws(StoreError) in throw StoreError(.unavailable, "not provided")
        }
    /// Makes a TLS handshake with the server of a URL within a time limit; the second argument is
    /// its host.
    package var inspectTLS:
        @Sendable (String, String, TLSOffer, Duration, TransportSettings)
            async throws(TransportError) ->
            TLSHandshake = { _, _, _, _, _ throws(TransportError) in
                throw TransportError(.unavailable, "not provided", requestMayHaveLeft: false)
            }
    /// The terminals that results and messages are shown on; empty by default.
    package var terminal = Terminal()
    /// Creates threads for parallel tasks.
    package var threads: @Sendable (Int) throws(FileError) -> any TaskExecutor = { _ in
        globalConcurrentExecutor
    }
    /// Shows a question on standard error and reads a line of standard input; nil without a
    /// terminal.
    package var ask: (@Sendable (String) throws(FileError) -> String)?
    /// The metrics of the command; ``runCommandLine(_:of:in:errorsAreJSON:_:)`` creates them for each run.
    package var metrics = TaskMetrics()
    /// Runs a program to its end.
    package var runProgram: @Sendable (ChildProgram) throws(FileError) -> ProgramEnding = {
        program throws(FileError) in
        throw FileError("run", program.path, reason: "not provided")
    }
    /// Whether a process of this user has run a command of a program for longer than a time.
    package var isRunning: @Sendable (_ program: String, _ command: String, Duration) -> Bool = {
        _, _, _ in false
    }
    /// Makes a signer of the settings usable.
    package var signer: @Sendable (SignerCall) -> any ClientSecretSigner = { $0.signer }
    /// The command and the machine, for the history of a vault.
    package var actor = VaultActor(command: "", host: "")

    /// Creates a world.
    package init(
        clocks: Clocks, variables: @escaping @Sendable (String) -> String?, processors: Int,
        files: Files,
        output: @escaping @Sendable (SecretBytes) throws(FileError) -> Void,
        errorLine: @escaping @Sendable (String) -> Void, streams: Streams,
        signals: Signals = .none,
        transport:
            @escaping @Sendable (TransportSettings) throws(TransportError) -> any FeedTransport,
        vault: @escaping @Sendable (String, StoreTimeout) throws(StoreError) -> any VaultStore,
        serverStore:
            @escaping @Sendable (String, StoreTimeout) throws(StoreError) -> ServerStore
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

    /// The settings of a transport.
    package struct TransportSettings: Sendable {
        /// A file of authorities to trust besides the system's.
        package let authorityFile: String?
        /// The environment, for the usual names of proxies and authorities.
        package let variables: @Sendable (String) -> String?
    }

    /// The operations of the file system that commands use.
    package struct Files: Sendable {
        /// Reads a whole file.
        package var read: @Sendable (String) throws(FileError) -> LocalFile
        /// Replaces a file atomically, accessible by its owner only.
        package var write: @Sendable (SecretBytes, String, SymbolicLink) throws(FileError) -> Void
        /// Creates a file atomically, accessible by its owner only; fails if the path exists.
        package var create: @Sendable (SecretBytes, String) throws(FileError) -> Void
        /// Whether a path exists.
        package var exists: @Sendable (String) -> Bool
        /// The owner and permissions of a file; nil if it cannot be examined.
        package var status: @Sendable (String) -> FileStatus?
        /// The names in a folder; empty if it cannot be read.
        package var names: @Sendable (String) -> [String]
        /// Creates a folder and its parents, writable by their owner only.
        package var makeFolder: @Sendable (String) throws(FileError) -> Void
        /// Takes the lock of the file at a path; nil if another process holds it.
        package var tryLock: @Sendable (String) throws(FileError) -> FileLock?
        /// Takes the lock of an existing file until the process ends; nil if another process holds
        /// it.
        package var lockUntilExit: @Sendable (String) throws(FileError) -> FileLock? = {
            path throws(FileError) in
            throw FileError("lock", path, reason: "not provided")
        }
        /// Opens or creates a file with reserved space; nil if another process holds it.
        package var reserve: @Sendable (String, Int) throws(FileError) -> ReservedFile? = {
            path, _ throws(FileError) in
            throw FileError("open", path, reason: "not provided")
        }
        /// Fails as ``reserve`` would, and changes nothing.
        package var checkReservation: @Sendable (String, Int) throws(FileError) -> Void = {
            _, _ in
        }
        /// Fails if root would create the file in a folder of another user.
        package var requireOwnFolder: @Sendable (String) throws(FileError) -> Void = { _ in }
        /// The free space of a path's file system, in bytes; nil if it is unknown.
        package var freeSpace: @Sendable (String) -> Int? = { _ in nil }
        /// Reads the first line of standard input.
        package var readLine: @Sendable () throws(FileError) -> SecretBytes
        /// Reads standard input to its end.
        package var readAll: @Sendable () throws(FileError) -> SecretBytes
        /// Removes a file; a missing file is not an error.
        package var remove: @Sendable (String) throws(FileError) -> Void = {
            path throws(FileError) in
            throw FileError("remove", path, reason: "not provided")
        }
        /// Makes a symbolic link with a target, or lets an existing one have it; the path is second.
        package var link: @Sendable (String, String) throws(FileError) -> Void = {
            _, path throws(FileError) in
            throw FileError("link", path, reason: "not provided")
        }
        /// Reads a whole regular file, without waiting for the writer of a pipe.
        package var readRegular: @Sendable (String) throws(FileError) -> LocalFile = {
            path throws(FileError) in
            throw FileError("read", path, reason: "not provided")
        }
        /// Fails unless a rule allows to write to a path.
        package var checkReplacement:
            @Sendable (String, ReplacementRule) throws(FileError) -> Void = {
                path, _ throws(FileError) in
                throw FileError("write", path, reason: "not provided")
            }
        /// Creates or replaces a file atomically, or writes a stream, as a rule allows.
        package var replace:
            @Sendable (SecretBytes, String, ReplacementRule) throws(FileError) -> Void = {
                _, path, _ throws(FileError) in
                throw FileError("write", path, reason: "not provided")
            }
        /// Writes files into an existing folder, all or none of them.
        package var writeAll: @Sendable ([NamedContents], String) throws(FileError) -> Void = {
            _, folder throws(FileError) in
            throw FileError("write to", folder, reason: "not provided")
        }
        /// Whether two paths denote the same folder.
        package var isSameFolder: @Sendable (String, String) -> Bool = { $0 == $1 }
        /// The absolute path.
        package var absolutePath: @Sendable (String) -> String = { $0 }
        /// The path without symbolic links.
        package var resolvedPath: @Sendable (String) -> String = { $0 }

        /// Creates a file system.
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
