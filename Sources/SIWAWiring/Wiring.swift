package import SIWAApplication
internal import SIWACrypto
internal import SIWACurlTransport
internal import SIWADatabases
internal import SIWAJOSE
package import SIWALifecycle
internal import SIWAServerRecords
internal import SIWASystem
internal import SIWAVaultRecords

/// Opens the transport to an application that siwa-server delivers events to.
///
/// - Parameter authorityFile: authorities to trust besides the system's.
package func openDeliveryTransport(
    authorityFile: String?
) throws(TransportError) -> any Transport {
    try CurlTransport(authorityFile: authorityFile, variables: environment, policy: .deliveries)
}

/// Opens a transport to programs of this machine.
package func openLocalTransport() throws(TransportError) -> any Transport {
    try CurlTransport(authorityFile: nil, variables: environment, policy: .local)
}

extension World {
    /// The system's clocks, files, streams, and libcurl for the network.
    package static func real(_ signals: Signals) -> World {
        omitSQLiteStatistics()
        var world = World(
            clocks: Clocks(now: { NumericDate(secondsSinceEpoch()) }, timekeeper: .system),
            variables: environment, processors: processorCount(),
            files: .real,
            output: { bytes throws(FileError) in
                try writeAll(bytes, to: 1, named: "standard output")
            },
            errorLine: { line in
                var bytes = SecretBuffer(capacity: line.utf8.count + 1)
                bytes.append(contentsOf: line.utf8.span)
                bytes.append(0x0A)
                // A failure to write to standard error cannot be reported.
                try? writeAll(bytes.finished(), to: 2, named: "standard error")
            },
            streams: .real,
            signals: signals,
            transport: { settings throws(TransportError) in
                do throws(FileError) {
                    try requireResources()
                } catch {
                    let detail = [error.reason, error.remedy].compactMap(\.self)
                    throw TransportError(
                        .resources, detail.joined(separator: ": "), requestMayHaveLeft: false)
                }
                return try CurlTransport(
                    authorityFile: settings.authorityFile, variables: settings.variables)
            },
            vault: { url, timeout throws(StoreError) in
                try openVaultStore(
                    url, timeout: timeout, secrets: .server, others: [.server])
            },
            serverStore: { url, timeout throws(StoreError) in
                try ServerStore(url, timeout: timeout)
            })
        world.useProcess()
        return world
    }

    /// The terminal, threads and child processes of this process, and files that few commands use.
    private mutating func useProcess() {
        terminal = Terminal(
            width: terminalWidth(1), isErrorsTerminal: isTerminal(2), variables: environment)
        reserveOutput = { size throws(FileError) in
            try reserveSpace(size, on: 1, named: "standard output")
        }
        isRoot = SIWASystem.isRoot()
        files.absolutePath = absolutePath
        files.resolvedPath = resolvedPath
        files.isSameFolder = isSameFolder
        files.link = { target, path throws(FileError) in try writeLink(to: target, at: path) }
        files.lockUntilExit = { path throws(FileError) in try SIWASystem.lockUntilExit(path) }
        files.reserve = { path, size throws(FileError) in try reserveFile(path, size) }
        files.checkReservation = { path, size throws(FileError) in
            try SIWASystem.checkReservation(path, size)
        }
        files.requireOwnFolder = { path throws(FileError) in
            try SIWASystem.requireOwnFolder("create", path)
        }
        files.freeSpace = SIWASystem.freeSpace
        files.remove = { path throws(FileError) in try removeFile(path) }
        files.readRegular = { path throws(FileError) in try readRegularFile(path) }
        files.checkReplacement = { path, rule throws(FileError) in
            try SIWASystem.checkReplacement(at: path, rule)
        }
        files.replace = { contents, path, rule throws(FileError) in
            try replaceFile(contents, at: path, rule)
        }
        files.writeAll = { files, folder throws(FileError) in
            try SIWASystem.writeFiles(files, into: folder)
        }
        inspectTLS = { url, host, offer, timeout, settings throws(TransportError) in
            try await TLSInspector(
                authorityFile: settings.authorityFile, variables: settings.variables
            ).handshake(with: url, host: host, offer, timeout: timeout)
        }
        isRunning = { SIWASystem.isRunning($0, $1, longerThan: $2) }
        runProgram = { program throws(FileError) in try SIWASystem.runProgram(program) }
        if isTerminal(0), isTerminal(2) {
            ask = { question throws(FileError) in try askTerminal(question) }
        }
        vaultCopy = { places, timeout throws(StoreError) in
            try openVaultCopy(places, timeout: timeout)
        }
        threads = { count throws(FileError) in try WorkerThreads(count) }
        actor = VaultActor(command: "", host: hostName())
    }
}

extension World.Streams {
    /// Files and standard streams, read and written by separate threads.
    fileprivate static var real: Self {
        Self(
            lines: { path, notify throws(FileError) -> any LineSource in
                try requireResources()
                return try LineReader(path, notify: notify)
            },
            results: { path, keep, notify throws(FileError) -> any LineSink in
                try requireResources()
                guard let path else { return LineWriter.standardOutput(notify: notify) }
                return try LineWriter.appending(
                    to: path, keeping: keep, beginning: resultBeginning, notify: notify)
            },
            hashes: { () throws(FileError) -> any HashSink in
                try HashFile(in: environment("TMPDIR") ?? "/tmp")
            },
            slots: { () throws(FileError) -> any SlotStore in
                try SlotFile(in: environment("TMPDIR") ?? "/tmp")
            },
            spool: { SpoolFile(in: environment("TMPDIR") ?? "/tmp") },
            sort: { ExternalSort(in: environment("TMPDIR") ?? "/tmp") },
            requireBatchThreads: { () throws(FileError) in
                // Those of the output, the network, its resolver, the vault, timers and Dispatch.
                try requireResources(threads: 8)
            },
            progress: isTerminal(2) ? showProgress : nil)
    }
}

extension World.Files {
    /// The system's files and standard input.
    fileprivate static let real = Self(
        read: { path throws(FileError) in try readFile(path) },
        write: { contents, path, link throws(FileError) in
            try writeFile(contents, to: path, link: link)
        },
        create: { contents, path throws(FileError) in try createFile(contents, at: path) },
        exists: fileExists, status: fileStatus, names: namesInFolder,
        makeFolder: { path throws(FileError) in try makePrivateFolder(path) },
        tryLock: { path throws(FileError) in try SIWASystem.tryLock(path) },
        readLine: { () throws(FileError) in try readStandardInputLine() },
        readAll: { () throws(FileError) in try readStandardInput() })
}
