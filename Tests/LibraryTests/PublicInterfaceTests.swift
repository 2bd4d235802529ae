import Foundation
import SIWATestSupport
import Synchronization
import Testing

/// The public interface of the products, recorded in docs/api with a line for each declaration.
///
/// After a change on purpose: `RECORD_SNAPSHOTS=1 swift test --filter PublicInterfaceTests`.
@Suite struct PublicInterfaceTests {
    static let products = [
        "SignInWithApple", "SignInWithAppleCurl", "SignInWithAppleVault", "SignInWithAppleEmulator",
    ]

    @Test(arguments: products) func `the public interface is the recorded one`(_ product: String)
        async throws
    {
        let lines = try await symbols(of: product).map(\.line).sorted()
        let file = packageRoot.appending(path: "docs/api/\(product).txt")
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] != nil {
            try (lines.joined(separator: "\n") + "\n").write(
                to: file, atomically: true, encoding: .utf8)
        }
        let recorded = try String(contentsOf: file, encoding: .utf8)
            .split(separator: "\n").map(String.init)
        let added = Set(lines).subtracting(recorded).sorted()
        let removed = Set(recorded).subtracting(lines).sorted()
        #expect(added.isEmpty, "added to \(product): \(added.joined(separator: "\n"))")
        #expect(removed.isEmpty, "removed from \(product): \(removed.joined(separator: "\n"))")
        #expect(!lines.isEmpty)
    }

    @Test(arguments: products) func `the public interface is documented`(_ product: String)
        async throws
    {
        let undocumented = try await symbols(of: product).filter { !$0.isDocumented }
        #expect(undocumented.map(\.line) == [])
    }

    /// The interface mentions neither types of inner modules nor of C.
    @Test(arguments: products) func `the public interface mentions only its own types`(
        _ product: String
    ) async throws {
        let allowed = Set(Self.products + ["Swift", "_Concurrency", "FoundationEssentials"])
        for symbol in try await symbols(of: product) {
            #expect(symbol.modules.subtracting(allowed).isEmpty, "\(symbol.line)")
        }
    }

    private struct Symbol: Sendable {
        let line: String
        let isDocumented: Bool
        let modules: Set<String>

        init?(_ json: [String: Any]) {
            let fragments = json["declarationFragments"] as? [[String: String]] ?? []
            guard let path = json["pathComponents"] as? [String], !fragments.isEmpty else {
                return nil
            }
            let declaration = fragments.compactMap { $0["spelling"] }.joined()
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
            line = path.joined(separator: ".") + ": " + declaration
            isDocumented = json["docComment"] != nil
            modules = Set(fragments.compactMap { $0["preciseIdentifier"].flatMap(moduleName) })
        }
    }

    /// Extracting takes seconds, so the tests of a product share one extraction.
    private static let extractions = Mutex<[String: Task<[Symbol], any Error>]>([:])

    private func symbols(of product: String) async throws -> [Symbol] {
        let extraction = Self.extractions.withLock { extractions in
            if let running = extractions[product] { return running }
            let task = Task { try await Self.extractedSymbols(of: product) }
            extractions[product] = task
            return task
        }
        return try await extraction.value
    }

    private static func extractedSymbols(of product: String) async throws -> [Symbol] {
        let folder = try TemporaryFolder()
        let result = try await swift(
            [
                "symbolgraph-extract", "-module-name", product, "-minimum-access-level", "public",
                "-skip-synthesized-members", "-output-dir", folder.path("."),
            ] + builtModuleArguments())
        try #require(result.exitCode == 0, "\(result)")
        // What extends types of another module has a file of its own: PRODUCT@MODULE.symbols.json.
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("."))
            .filter { $0.hasSuffix(".symbols.json") }
        try #require(files.contains("\(product).symbols.json"))
        return try files.flatMap { file -> [Symbol] in
            let graph = try JSONSerialization.jsonObject(with: Data(try folder.contents(file)))
            return ((graph as? [String: Any])?["symbols"] as? [[String: Any]] ?? [])
                .compactMap(Symbol.init)
        }
    }
}

/// The module in a mangled name such as `s:15SignInWithApple0aB5TokenV`; nil for a type of the
/// standard library.
private func moduleName(_ identifier: String) -> String? {
    guard identifier.hasPrefix("s:") else { return identifier.hasPrefix("c:") ? "C" : nil }
    let rest = identifier.dropFirst(2)
    let digits = rest.prefix(while: \.isNumber)
    guard let length = Int(digits) else { return nil }
    return String(rest.dropFirst(digits.count).prefix(length))
}
