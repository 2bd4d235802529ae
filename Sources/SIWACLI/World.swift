public import LocalFiles
public import SIWACrypto
public import SignInWithApple

/// Everything outside the program that a command may touch, as values: `main.swift` builds
/// the real one, a test builds its own.
public struct World: Sendable {
    /// The calendar and the stopwatch.
    public var clocks: Clocks { didSet { ending = Ending(signals, clocks.timekeeper) } }
    /// The environment.
    public var variables: @Sendable (String) -> String?
    /// How many threads can run at the same time.
    public var processors: Int
    /// Files and standard input.
    public var files: Files
    /// Standard output: the result and nothing else.
    public var output: @Sendable (SecretBytes) throws(FileError) -> Void
    /// Standard error: notes, traces and errors, a line each.
    public var errorLine: @Sendable (String) -> Void
    /// Long inputs and outputs.
    public var streams: Streams
    /// The signals that ask the process to end.
    public var signals: Signals { didSet { ending = Ending(signals, clocks.timekeeper) } }
    /// Ends the running command in time after a signal; ``runSIWA(_:in:)`` makes one for each run.
    var ending: Ending
    /// Makes the network, once the settings are known.
    public var transport: @Sendable (TransportSettings) throws(TransportError) -> any Transport
    /// Makes the store of a vault from its URL; nothing is opened before its first call.
    public var vault: @Sendable (String, VaultPatience) throws(VaultError) -> any VaultStore
    /// The terminals that results and messages are shown on; none unless they are set.
    public var terminal = Terminal()
    /// Which command runs on which machine, for the history of a vault.
    public var actor = VaultActor(command: "", host: "")

    /// Puts a world together.
    public init(
        clocks: Clocks, variables: @escaping @Sendable (String) -> String?, processors: Int,
        files: Files,
        output: @escaping @Sendable (SecretBytes) throws(FileError) -> Void,
        errorLine: @escaping @Sendable (String) -> Void, streams: Streams,
        signals: Signals = .none,
        transport:
            @escaping @Sendable (TransportSettings) throws(TransportError) -> any Transport,
        vault: @escaping @Sendable (String, VaultPatience) throws(VaultError) -> any VaultStore
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
    }

    /// What the network needs to know.
    public struct TransportSettings: Sendable {
        /// A file of authorities to trust besides the system's.
        public let authorityFile: String?
        /// The environment, for the usual names of proxies and authorities.
        public let variables: @Sendable (String) -> String?
    }

    /// The file system, as far as commands use it.
    public struct Files: Sendable {
        /// Reads a whole file.
        public var read: @Sendable (String) throws(FileError) -> LocalFile
        /// Writes a file whole or not at all, for its owner alone.
        public var write: @Sendable (SecretBytes, String, SymbolicLink) throws(FileError) -> Void
        /// Writes a new file whole or not at all, for its owner alone; never over an old one.
        public var create: @Sendable (SecretBytes, String) throws(FileError) -> Void
        /// Whether something stands at a path.
        public var exists: @Sendable (String) -> Bool
        /// Whose a file is, and who may read and write it; nil when it cannot be looked at.
        public var status: @Sendable (String) -> FileStatus?
        /// The names in a folder; none when it cannot be read.
        public var names: @Sendable (String) -> [String]
        /// Makes a folder, with its parents, that only its owner can write to.
        public var makeFolder: @Sendable (String) throws(FileError) -> Void
        /// Takes the lock that the file at a path stands for; nil when another process has it.
        public var tryLock: @Sendable (String) throws(FileError) -> FileLock?
        /// Reads the first line of standard input.
        public var readLine: @Sendable () throws(FileError) -> SecretBytes
        /// Reads standard input to its end.
        public var readAll: @Sendable () throws(FileError) -> SecretBytes

        /// Puts a file system together.
        public init(
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
