import Foundation
import SIWAConformance
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// The document of `siwa-emulator vectors`.
@Suite struct VectorDocumentTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/conformance").standardized

    private static func options() -> VectorOptions {
        VectorOptions(generator: "siwa-emulator \(version)")
    }

    @Test func `the document in docs/conformance is made again byte for byte`() async throws {
        let file = Self.folder.appending(path: "siwa-vectors-1.json")
        let text = try await VectorDocument(Self.options()).json.indentedText + "\n"
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1" {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(
            try String(contentsOf: file, encoding: .utf8) == text,
            "docs/conformance/siwa-vectors-1.json: write it with RECORD_SNAPSHOTS=1")
    }

    @Test func `the document is what its schema describes, and a damaged one is not`() async throws
    {
        let schema = try JSON(
            Array(Data(contentsOf: Self.folder.appending(path: "siwa-vectors-1.schema.json"))))
        let json = try await VectorDocument(Self.options()).json
        #expect(JSONSchema(schema).faults(of: json) == [])
        let damaged: [(String, JSON)] = [
            ("numberOfTests", "many"), ("schema", "other"), ("testGroups", []),
            ("notes", ["T1": [:]]),
        ]
        for (name, value) in damaged {
            let other = JSON.object(
                (json.members ?? []).map { $0.name == name ? JSON.Member(name, value) : $0 })
            #expect(JSONSchema(schema).faults(of: other) != [], "\(name)")
        }
        #expect(JSONSchema(schema).faults(of: [:]).count == 6)
    }

    @Test func `every number is given once, in order, and every flag is explained`() async throws {
        let json = try await VectorDocument(Self.options()).json
        let tests = (json["testGroups"]?.elements ?? []).flatMap { $0["tests"]?.elements ?? [] }
        #expect(tests.map { $0["tcId"]?.integer } == Array(1...tests.count))
        #expect(json["numberOfTests"] == .integer(tests.count))
        let flags = Set(tests.flatMap { $0["flags"]?.elements ?? [] }.compactMap(\.string))
        #expect(flags == Set((json["notes"]?.members ?? []).map(\.name)))
        let results = Set(tests.compactMap { $0["result"]?.string })
        #expect(results == ["valid", "invalid", "acceptable"])
        #expect(tests.count >= 173)
    }

    @Test func `another seed gives other keys, another time other times, and a kind only itself`()
        async throws
    {
        var options = Self.options()
        options.kinds = [.notification]
        let first = try await VectorDocument(options).json
        #expect(
            first["testGroups"]?.elements?.allSatisfy { $0["type"] == "notification" } == true)
        options.seed = 2
        let second = try await VectorDocument(options).json
        #expect(
            first["testGroups"]?.elements?[0]["jwks"] != second["testGroups"]?.elements?[0]["jwks"])
        options.kinds = [.identityToken]
        (options.audiences, options.nonce) = (["com.example.a", "com.example.b"], "raw")
        (options.at, options.lifetime) = (NumericDate(1_700_000_000), .seconds(60))
        let group = try #require(try await VectorDocument(options).groups.first)
        #expect(group.now == 1_700_000_000 && group.nonce == "raw")
        #expect(group.audiences == ["com.example.a", "com.example.b"])
        let good = try CompactJWS(group.vectors[0].made.token).payload
        #expect(good["aud"] == "com.example.a" && good["exp"] == 1_700_000_060)
    }

    @Test func `no token says what is wrong with it`() async throws {
        for vector in try await VectorDocument(Self.options()).groups.flatMap(\.vectors) {
            for flag in vector.flags { #expect(!vector.made.token.contains(flag + "-")) }
            #expect(!vector.made.token.contains(vector.comment) || vector.made.token.isEmpty)
        }
    }
}
