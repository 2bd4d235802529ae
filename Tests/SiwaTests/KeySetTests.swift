import Foundation
import SIWAJOSE
import SIWATestSupport
import Testing

/// The key set's cache, shared by real processes; one test at a time, to leave processors for
/// others.
@Suite(.serialized) struct KeySetTests {
    @Test func `two hundred processes with an empty cache fetch once and write one whole file`()
        async throws
    {
        let apple = try await LocalApple()
        let results = try await apple.atOnce(200, try await apple.verify())
        #expect(results.allSatisfy { $0.exitCode == 0 && $0.errors.isEmpty })
        #expect(Set(results.map(\.output)).count == 1)
        #expect(try await apple.requests(to: "/auth/keys").count == 1)
        try apple.expectOneWholeFile()
    }

    @Test func `fifty processes fetch once while Apple is unavailable`() async throws {
        let apple = try await LocalApple()
        let outage: JSON = ["endpoint": "/auth/keys", "status": 503, "count": 1000]
        try await apple.post("faults", outage)
        let results = try await apple.atOnce(50, apple.verify() + ["--max-attempts", "1"])
        #expect(results.allSatisfy { $0.exitCode == 75 && $0.output.isEmpty })
        #expect(try await apple.requests(to: "/auth/keys").count == 1)
    }

    @Test func `after an hour, fifty processes fetch once`() async throws {
        let apple = try await LocalApple()
        let verify = try await apple.verify()
        #expect(try await apple.siwa(verify).exitCode == 0)
        try apple.changeCache { file in
            let fetched = try #require(file["fetched_at"]?.integer)
            return file.replacing("fetched_at", by: .integer(fetched - 3600))
        }
        let results = try await apple.atOnce(50, verify)
        #expect(results.allSatisfy { $0.exitCode == 0 })
        #expect(try await apple.requests(to: "/auth/keys").count == 2)
        try apple.expectOneWholeFile()
    }

    @Test func `tokens with forged kids cause one fetch, and valid tokens none`() async throws {
        let apple = try await LocalApple()
        let good = try await apple.verify()
        // Few, because they must all be within the pause of a minute.
        for number in 0..<10 {
            let header: JSON = ["kid": .string("forged\(number)"), "alg": "RS256"]
            let forged = "\(Base64URL.encode(header.bytes)).e30.AAAA"
            let result = try await apple.siwa("verify", forged)
            #expect(result.exitCode == 1 && result.errors.contains("the key set has"), "\(result)")
        }
        #expect(try await apple.siwa(good).exitCode == 0)
        #expect(try await apple.requests(to: "/auth/keys").count == 1)
    }

    @Test func `a token with a new key of Apple's is verified, and the change is reported`()
        async throws
    {
        let apple = try await LocalApple()
        #expect(try await apple.siwa(try await apple.verify()).exitCode == 0)
        let rotated = try await apple.post("keys/rotate")
        let result = try await apple.siwa(try await apple.verify())
        #expect(result.exitCode == 0, "\(result)")
        let kid = try #require(rotated["signing"]?.string)
        #expect(result.errors.contains("new \(kid); withdrawn "), "\(result)")
        #expect(try await apple.requests(to: "/auth/keys").count == 2)
    }

    @Test func `a process killed during its fetch does not block others`() async throws {
        let apple = try await LocalApple()
        let killed = try await apple.startSlowFetch()
        async let next = apple.siwa(try await apple.verify())
        killed.signal(9)
        #expect(try await killed.result().ending == .signal(9))
        let result = try await next
        #expect(result.exitCode == 0 && result.errors.isEmpty, "\(result)")
        try apple.expectOneWholeFile()
    }

    @Test func `a process that hangs during its fetch delays others only by their own timeout`()
        async throws
    {
        let apple = try await LocalApple()
        let hanging = try await apple.startSlowFetch()
        let result = try await apple.siwa("keys", "--timeout", "5s")
        #expect(result.exitCode == 75 && result.output.isEmpty, "\(result)")
        #expect(result.errors.hasPrefix("siwa: busy: "), "\(result)")
        #expect(try await apple.requests(to: "/auth/keys").count == 1)
        hanging.signal(9)
        _ = try await hanging.result()
    }

    @Test func `the first exchange fetches the keys once, and the next one not at all`()
        async throws
    {
        let apple = try await LocalApple()
        for _ in 0..<2 {
            let result = try await apple.siwa("exchange", "--code", try await apple.code())
            #expect(result.exitCode == 0 && result.errors.isEmpty, "\(result)")
        }
        #expect(try await apple.requests(to: "/auth/keys").count == 1)
    }
}

/// The folder and the file, as others may have left them.
@Suite struct KeySetFileTests {
    @Test func `a cache that cannot be created causes only a warning`() async throws {
        let apple = try await LocalApple()
        let file = try apple.folder.write("file", "")
        for home in [file, "/proc/none"] {
            let result = try await apple.siwa(
                ["keys"], environment: ["XDG_CACHE_HOME": home])
            #expect(result.exitCode == 0 && !result.output.isEmpty, "\(result)")
            #expect(result.errors.hasPrefix("siwa: warning: the cache"), "\(result)")
        }
        #expect(try await apple.requests(to: "/auth/keys").count == 2)
    }

    @Test func `a file of mode 0666 is refused and replaced with a file of mode 0600`()
        async throws
    {
        let apple = try await LocalApple()
        #expect(try await apple.siwa(["keys"]).exitCode == 0)
        let path = try #require(apple.cacheFiles.first)
        #expect(chmod(path, 0o666) == 0)
        let result = try await apple.siwa(["keys"])
        #expect(result.exitCode == 0 && result.errors.contains("others"), "\(result)")
        #expect(try await apple.requests(to: "/auth/keys").count == 2)
        try apple.expectOneWholeFile()
    }

    @Test func `a folder that other users can write to is not used`() async throws {
        let apple = try await LocalApple()
        #expect(try await apple.siwa(["keys"]).exitCode == 0)
        #expect(chmod(apple.folder.path("cache/siwa"), 0o777) == 0)
        let result = try await apple.siwa(["keys"])
        #expect(result.exitCode == 0 && result.errors.contains("others"), "\(result)")
        #expect(try await apple.requests(to: "/auth/keys").count == 2)
    }

    @Test func `commands that need no keys do not open the cache`() async throws {
        let apple = try await LocalApple()
        for arguments in [
            ["secret"], ["refresh", "--token", "r.none"], ["revoke", "--token", "r.none"],
            ["exchange", "--code", "c.none", "--dry-run"], ["public-key"], ["config", "show"],
        ] {
            _ = try await apple.siwa(arguments)
        }
        #expect(!FileManager.default.fileExists(atPath: apple.folder.path("cache")))
    }
}

extension LocalApple {
    /// The call that verifies a new token of this Apple's: it needs the key set, and has time.
    func verify() async throws -> [String] {
        let signedIn = try await post("codes", ["client_id": "com.example.app"])
        return ["verify", try #require(signedIn["id_token"]?.string), "--timeout", "2m"]
    }

    /// Runs as many processes at once, each with these arguments.
    func atOnce(_ count: Int, _ arguments: [String]) async throws -> [ProgramResult] {
        try await withThrowingTaskGroup(of: ProgramResult.self) { group in
            for _ in 0..<count {
                group.addTask { try await self.start(arguments, isPolite: true).result() }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// A process that has sent its request for the keys, and whose answer is a minute away.
    func startSlowFetch() async throws -> RunningProgram {
        try await post("faults", ["endpoint": "/auth/keys", "delay": "1m"])
        let program = try start(try await verify())
        while try await requests(to: "/auth/keys").isEmpty {
            try await Task.sleep(for: .milliseconds(5))
        }
        return program
    }

    /// The files of the cache that are no locks: temporary ones, too.
    var cacheFiles: [String] {
        get throws {
            let folder = folder.path("cache/siwa")
            return try FileManager.default.contentsOfDirectory(atPath: folder)
                .filter { !$0.hasSuffix(".lock") }.map { "\(folder)/\($0)" }
        }
    }

    /// The cache is one file, whole, and its owner's alone.
    func expectOneWholeFile() throws {
        let files = try cacheFiles
        #expect(files.count == 1, "\(files)")
        let path = try #require(files.first)
        let file = try JSON(Data(contentsOf: URL(filePath: path)))
        #expect(file["key_set"].flatMap { KeySet($0) }?.keys.count == 3)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    /// Rewrites the cache's file.
    func changeCache(_ change: (JSON) throws -> JSON) throws {
        let url = URL(filePath: try #require(cacheFiles.first))
        try Data(change(try JSON(Data(contentsOf: url))).bytes).write(to: url)
    }
}

extension JSON {
    fileprivate func replacing(_ name: String, by value: JSON) -> JSON {
        .object((members ?? []).map { $0.name == name ? Member(name, value) : $0 })
    }
}
