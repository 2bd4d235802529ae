import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWAApplication
@testable import SIWACLI
@testable import SIWASystem

/// The file in which the key set is kept, and its lock.
@Suite struct KeySetFileTests {
    let server = KeyServer("one")
    let harness: KeySetHarness

    init() { harness = KeySetHarness(server) }

    @Test func `each base URL has its own file, and other authorities a further one`() async throws
    {
        try await harness.keySet("one")
        server.publish("emulated")
        for _ in 0..<2 {
            let set = try await harness.keySet("emulated") {
                $0.baseURL = "https://localhost:9443/"
            }
            #expect(set.keyIDs == ["emulated"])
        }
        #expect(
            try await harness.keySet("one").keyIDs == ["one"], "Apple's own are kept")
        #expect(server.requests == 2)

        let pem = "-----BEGIN CERTIFICATE-----\n"
        harness.memory.with { $0.files["/ca.pem"] = .init(contents: Array(pem.utf8)) }
        try await harness.keySet("emulated") { $0.caFile = "/ca.pem" }
        #expect(server.requests == 3, "who vouches for Apple matters")
        let files = harness.memory.with { $0.files.keys.sorted() }.filter { $0 != "/ca.pem" }
        #expect(
            files == [
                "/home/me/.cache/siwa/keys-https:appleid.apple.com-b93f51c3ac1b.json",
                KeySetHarness.file, "/home/me/.cache/siwa/keys-https:localhost:9443.json",
            ])
    }

    @Test func `a stored key set of another base URL is not used`() async throws {
        try await harness.keySet("one") { $0.baseURL = "https://localhost:9443" }
        harness.memory.with { state in
            state.files[KeySetHarness.file] =
                state.files["/home/me/.cache/siwa/keys-https:localhost:9443.json"]
        }
        server.publish("two")
        #expect(try await harness.keySet("two").keyIDs == ["two"])
    }

    static let folders: [([String: String], String?)] = [
        (["XDG_CACHE_HOME": "/x", "HOME": "/h"], "/x/siwa/"),
        (["XDG_CACHE_HOME": "", "HOME": "/h"], "/h/.cache/siwa/"),
        (["XDG_CACHE_HOME": "relative", "HOME": "/h"], "/h/.cache/siwa/"),
        (["HOME": "h"], nil), (["HOME": ""], nil), ([:], nil),
    ]

    @Test(arguments: folders) func `the key set is stored in the user's cache folder`(
        _ variables: [String: String], _ folder: String?
    ) async throws {
        harness.memory.with { $0.variables = variables }
        try await harness.keySet("one")
        let file = harness.memory.with { $0.files.keys.first }
        #expect(file == folder.map { $0 + "keys-https:appleid.apple.com.json" })
        let relative = variables.values.count { !$0.isEmpty && !$0.hasPrefix("/") }
        #expect(harness.said.count == relative + (folder == nil ? 1 : 0))
        try await harness.keySet("one")
        #expect(server.requests == (folder == nil ? 2 : 1))
    }

    @Test(arguments: ["", "{", "{}", "\u{0}", #"{"keys":[]}"#])
    func `a damaged file is reported and replaced`(_ text: String) async throws {
        harness.memory.with { $0.files[KeySetHarness.file] = .init(contents: Array(text.utf8)) }
        #expect(try await harness.keySet("one")["one"] != nil)
        #expect(harness.said.count == 1)
        #expect(try await harness.keySet("one")["one"] != nil)
        #expect(server.requests == 1 && harness.said.isEmpty)
    }

    @Test(arguments: [0o666, 0o620, 0o602] as [UInt32])
    func `a file that other users can write to is refused and replaced`(_ mode: UInt32) async throws
    {
        try await harness.keySet("one")
        harness.memory.with { $0.files[KeySetHarness.file]?.permissions = mode }
        #expect(try await harness.keySet("one")["one"] != nil)
        #expect(server.requests == 2)
        #expect(harness.said.map { $0.contains("others") } == [true])
        try await harness.keySet("one")
        #expect(server.requests == 2 && harness.said.isEmpty)
        #expect(harness.memory.with { $0.files[KeySetHarness.file]?.permissions } == 0o600)
    }

    @Test func `the file contains what Apple sent, and no secret`() async throws {
        try await harness.keySet("forged")
        let kept = try #require(harness.kept)
        #expect(kept["key_set"] == ["keys": [KeyServer.key("one")]])
        #expect(kept["fetched_at"] == 1_800_000_000 && kept["paused_until"] == 1_800_000_060)
        #expect(kept["first_seen"] == ["one": 1_800_000_000])
    }

    @Test func `a process that waits for another process's fetch uses its result`() async throws {
        let lock = try #require(harness.memory.lock(harness.lockFile))
        async let waiting = harness.keySet("one")
        async let another = harness.keySet(nil)
        try await eventually("both wait") {
            harness.memory.with { $0.refusedLocks } >= 6
        }
        #expect(server.requests == 0)
        lock.release()
        _ = try await (waiting, another)
        #expect(server.requests == 1)
    }

    @Test func `a lock that is not released causes an error within the command's time`()
        async throws
    {
        let lock = try #require(harness.memory.lock(harness.lockFile))
        let error = await #expect(throws: KeySetError.self) { try await harness.keySet("one") }
        guard case .busy = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(Diagnosis(try #require(error)).exitCode == .temporary && server.requests == 0)
        lock.release()
        #expect(try await harness.keySet("one")["one"] != nil)
    }

    @Test func `with a stored key set, the lock is not waited for`() async throws {
        try await harness.keySet("one")
        harness.later(7200)
        let lock = try #require(harness.memory.lock(harness.lockFile))
        #expect(try await harness.keySet("one")["one"] != nil)
        #expect(server.requests == 1)
        #expect(harness.said.map { $0.contains("another siwa") } == [true])
        lock.release()
    }
}

extension KeySetHarness {
    fileprivate var lockFile: String { String(Self.file.dropLast(5)) + ".lock" }
}
