import Foundation
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// `siwa-emulator vectors`, and what siwa says to its tokens.
@Suite struct VectorsTests {
    private static func document(_ arguments: [String]) async throws -> JSON {
        let result = try await Executable.product("siwa-emulator").run(
            Executable.Call(["vectors"] + arguments))
        try #require(result.exitCode == 0 && result.errors.isEmpty, "\(result)")
        return try JSON(text: result.output)
    }

    @Test func `the program prints the document of its documentation, or writes it to a file`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/vectors.json"
        let result = try await Executable.product("siwa-emulator").run(
            Executable.Call(["vectors", "--seed", "1", "--at", "1795000000", "--out", path]))
        #expect(result.exitCode == 0 && result.output.isEmpty, "\(result)")
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/conformance/siwa-vectors-1.json").standardized
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(contentsOf: file))
        let same = try await Self.document(["--seed", "1", "--at", "2026-11-18T11:06:40Z"])
        #expect(try same == JSON(Array(Data(contentsOf: file))))
    }

    @Test func `without a time, the tokens are good now, and without a seed they differ`()
        async throws
    {
        let first = try await Self.document(["--kind", "identity-token", "--lifetime", "10m"])
        let second = try await Self.document(["--kind", "identity-token"])
        let groups = try #require(first["testGroups"]?.elements)
        #expect(groups[0]["jwks"] != second["testGroups"]?.elements?[0]["jwks"])
        let now = Int(Date().timeIntervalSince1970)
        #expect(((now - 600)...now).contains(try #require(groups[0]["now"]?.integer)))
        let good = try CompactJWS(groups[0]["tests"]?.elements?[0]["token"]?.string ?? "").payload
        let issued = try #require(good["iat"]?.integer)
        #expect(good["exp"]?.integer == issued + 600)
    }

    @Test(arguments: [
        (["--kind", "code"], "identity-token"), (["--at", "tomorrow"], "2026-11-21T08:30:00Z"),
        (["--lifetime", "0s"], "a duration"), (["--seed", "x"], "seed"),
    ])
    func `a mistake is a usage error`(_ arguments: [String], _ text: String) async throws {
        let result = try await Executable.product("siwa-emulator").run(
            Executable.Call(["vectors"] + arguments))
        #expect(result.exitCode == 2 && result.errors.contains(text), "\(result)")
    }

    @Test func `siwa verify and siwa notification come to the result of each token`() async throws {
        let folder = try TemporaryFolder()
        let document = try await Self.document(
            ["--audience", "com.example.app", "--audience", "com.example.web"])
        for (index, group) in (document["testGroups"]?.elements ?? []).enumerated() {
            try folder.write("keys-\(index).json", group["jwks"]?.text ?? "")
            let now = NumericDate(group["now"]?.integer ?? 0).rfc3339
            var common = ["--jwks", "\(folder.path)/keys-\(index).json", "--at", now]
            for audience in group["audiences"]?.elements ?? [] {
                common += ["--audience", audience.string ?? ""]
            }
            if let nonce = group["nonce"]?.string { common += ["--nonce", nonce] }
            let name = group["type"] == "notification" ? "notification" : "verify"
            for test in group["tests"]?.elements ?? [] {
                var arguments = [name, "-"] + common
                if let code = test["code"]?.string { arguments += ["--code", code] }
                if let token = test["access_token"]?.string {
                    arguments += ["--access-token", token]
                }
                try await check(test, arguments)
            }
        }
    }

    private func check(_ test: JSON, _ arguments: [String]) async throws {
        let result = try await Executable.product("siwa").run(
            Executable.Call(
                arguments, input: .bytes(Array((test["token"]?.string ?? "").utf8))))
        let comment = "\(test["flags"]?.text ?? "") \(test["comment"]?.text ?? "")"
        switch test["result"]?.string {
        case "valid": #expect(result.exitCode == 0, "\(comment): \(result.errors)")
        // An empty token is a usage error.
        case "invalid": #expect([1, 2].contains(result.exitCode), "\(comment)")
        default: #expect([0, 1].contains(result.exitCode), "\(comment): \(result.errors)")
        }
    }
}
