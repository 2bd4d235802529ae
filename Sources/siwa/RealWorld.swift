internal import CurlTransport
internal import LocalFiles
internal import SIWACLI
internal import SIWACrypto
internal import SignInWithApple

extension World {
    /// The system's clocks, files, streams, and libcurl for the network.
    static var real: World {
        World(
            clocks: Clocks(now: { NumericDate(secondsSinceEpoch()) }, timekeeper: .system),
            variables: environment(),
            files: Files(
                read: { path throws(FileError) in try readFile(path) },
                write: { contents, path throws(FileError) in try writeFile(contents, to: path) },
                exists: fileExists, names: namesInFolder,
                makeFolder: { path throws(FileError) in try makePrivateFolder(path) },
                tryLock: { path throws(FileError) in try LocalFiles.tryLock(path) },
                readLine: { () throws(FileError) in try readStandardInputLine() },
                readAll: { () throws(FileError) in try readStandardInput() }),
            output: { bytes throws(FileError) in
                try writeAll(bytes, to: 1, named: "standard output")
            },
            errorLine: { line in
                // Nobody is left to tell when standard error itself cannot be written.
                try? writeAll(SecretBytes((line + "\n").utf8), to: 2, named: "standard error")
            },
            transport: { settings throws(TransportError) in
                try CurlTransport(
                    authorityFile: settings.authorityFile, variables: settings.variables)
            })
    }
}
