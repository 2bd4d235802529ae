import Foundation
import Testing

@testable import SIWAFuzzTargets

/// Inputs that the fuzzer kept satisfy the same rules on every run of the tests.
@Suite struct CorpusTests {
    @Test(arguments: FuzzTarget.allCases)
    func `every input of the corpus satisfies the rules`(_ target: FuzzTarget) async throws {
        let files = try Self.files(of: target)
        #expect(!files.isEmpty)
        for file in files {
            let input = [UInt8](try Data(contentsOf: file))
            do {
                try await target.check(input)
            } catch {
                Issue.record("\(error): \(file.path)")
            }
        }
    }

    @Test func `the corpus is small, and every input is used`() throws {
        let folders = try Self.contents(of: Self.corpus).map(\.lastPathComponent)
        #expect(Set(folders) == Set(FuzzTarget.allCases.map(\.rawValue)))
        let sizes = try FuzzTarget.allCases.flatMap(Self.files).map {
            try #require($0.resourceValues(forKeys: [.fileSizeKey]).fileSize)
        }
        #expect(sizes.allSatisfy { $0 <= 16_384 })
        #expect(sizes.reduce(0, +) < 300_000)
    }

    @Test func `a violated rule is reported`() async {
        let run = await CommandRun(["inspect", "-"])
        #expect(throws: Violation.self) { try run.check(allowing: [0]) }
        #expect(throws: Never.self) { try run.check(allowing: [2]) }
        #expect(repeats("the key MIGTAgEAMBMGByqG is bad", Array("MIGTAgEAMBMGByqGSM49".utf8)))
        #expect(!repeats("the key is bad", Array("MIGTAgEAMBMGByqGSM49".utf8)))
    }

    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Corpus")

    private static func files(of target: FuzzTarget) throws -> [URL] {
        try contents(of: corpus.appending(path: target.rawValue))
    }

    private static func contents(of folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: [.fileSizeKey],
            options: .skipsHiddenFiles)
    }
}
