import SIWACLI
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Testing

@testable import SIWAApplication
@testable import SIWASystem

extension World {
    /// A world that provides nothing: each use fails the test, with the name of what was used. A
    /// harness copies it and sets what a scenario needs.
    static var refusing: World {
        World(
            clocks: Clocks(
                now: { touched("the calendar", NumericDate(0)) },
                timekeeper: Timekeeper(
                    elapsed: { touched("the stopwatch", .zero) },
                    sleep: { _ in touched("waiting", ()) })),
            variables: { _ in nil },
            processors: 2,
            files: Files(
                read: { path throws(FileError) in throw unprovided("read", path) },
                write: { _, path, _ throws(FileError) in throw unprovided("write", path) },
                create: { _, path throws(FileError) in throw unprovided("create", path) },
                exists: { touched("looking for \($0)", false) },
                status: { touched("looking at \($0)", nil) },
                names: { touched("looking into \($0)", []) },
                makeFolder: { path throws(FileError) in throw unprovided("make the folder", path) },
                tryLock: { path throws(FileError) in throw unprovided("lock", path) },
                readLine: { () throws(FileError) in throw unprovided("read", "a line of stdin") },
                readAll: { () throws(FileError) in throw unprovided("read", "all of stdin") }),
            output: { _ throws(FileError) in throw unprovided("write", "standard output") },
            errorLine: { _ in touched("standard error", ()) },
            streams: .refusing,
            transport: { _ throws(TransportError) in
                touched("the network", ())
                throw TransportError(.unavailable, "not provided", requestMayHaveLeft: false)
            },
            vault: { url, _ throws(StoreError) in
                touched("the vault \(url)", ())
                throw StoreError(.unavailable, "not provided")
            },
            serverStore: { url, _ throws(StoreError) in
                touched("siwa-server's tables in \(url)", ())
                throw StoreError(.unavailable, "not provided")
            })
    }
}

extension World.Streams {
    fileprivate static var refusing: Self {
        Self(
            lines: { path, _ throws(FileError) in throw unprovided("read", path ?? "stdin") },
            results: { path, _, _ throws(FileError) in
                throw unprovided("write", path ?? "standard output")
            },
            hashes: { () throws(FileError) in throw unprovided("create", "a set of hashes") },
            slots: { () throws(FileError) in throw unprovided("create", "slots") },
            spool: { SpoolFile(in: "/no/such/folder") },
            sort: { ExternalSort(in: "/no/such/folder") })
    }
}

private func touched<Value>(_ what: String, _ value: Value) -> Value {
    Issue.record("\(what) was used, but the test did not provide it")
    return value
}

private func unprovided(_ operation: String, _ what: String) -> FileError {
    touched("'\(operation) \(what)'", FileError(operation, what, code: 2))
}
