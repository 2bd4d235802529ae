import LocalFiles
import TestSupport
import Testing

@Suite struct HashFileTests {
    @Test func `of many hashes each is new once`() throws {
        let folder = try TemporaryFolder()
        let file = try HashFile(in: folder.path)
        let hashes = (0..<60_000).map { UInt64($0) &* 0x9E37_79B9_7F4A_7C15 }
        for hash in hashes { try #require(try file.insert(hash)) }
        for hash in hashes.reversed() { try #require(try !file.insert(hash)) }
        #expect(try file.insert(1))
    }

    @Test func `hashes of one log are distinguished, also before they are on disk`() throws {
        let folder = try TemporaryFolder()
        let file = try HashFile(in: folder.path)
        var seen: Set<UInt64> = []
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5_000 {
            // Few bits differ, so that many are met again and the filter is of no use.
            let hash = UInt64.random(in: 0..<2_000, using: &generator) << 10 | 0x3FF
            try #require(try file.insert(hash) == seen.insert(hash).inserted)
        }
    }

    @Test func `the file has no name in the folder`() throws {
        let folder = try TemporaryFolder()
        let file = try HashFile(in: folder.path)
        #expect(try file.insert(0) && file.insert(.max) && !file.insert(0))
        #expect(namesInFolder(folder.path).isEmpty)
    }

    @Test func `it needs a folder`() {
        let error = #expect(throws: FileError.self) { try HashFile(in: "/no/such/folder") }
        #expect(error?.isMissing == true)
    }
}
