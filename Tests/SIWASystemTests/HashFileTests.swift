import SIWASystem
import SIWATestSupport
import Testing

@Suite struct HashFileTests {
    @Test func `each of many hashes is new exactly once`() throws {
        let folder = try TemporaryFolder()
        let file = try HashFile(in: folder.path)
        let hashes = (0..<60_000).map { UInt64($0) &* 0x9E37_79B9_7F4A_7C15 }
        for hash in hashes { try #require(try file.insert(hash)) }
        for hash in hashes.reversed() { try #require(try !file.insert(hash)) }
        #expect(try file.insert(1))
    }

    @Test func `hashes with the same prefix are distinguished, also before they are on disk`()
        throws
    {
        let folder = try TemporaryFolder()
        let file = try HashFile(in: folder.path)
        var seen: Set<UInt64> = []
        var random = SeededRandom.announced(for: "hashes with the same prefix")
        for _ in 0..<5_000 {
            // Few bits differ, so that many are repeated and the filter is useless.
            let hash = UInt64.random(in: 0..<2_000, using: &random) << 10 | 0x3FF
            try #require(try file.insert(hash) == seen.insert(hash).inserted)
        }
    }

    @Test func `the file has no name in the folder`() throws {
        let folder = try TemporaryFolder()
        let file = try HashFile(in: folder.path)
        #expect(try file.insert(0) && file.insert(.max) && !file.insert(0))
        #expect(namesInFolder(folder.path).isEmpty)
    }

    @Test func `creating the file in a missing folder fails`() {
        let error = #expect(throws: FileError.self) { try HashFile(in: "/no/such/folder") }
        #expect(error?.isMissing == true)
    }
}
