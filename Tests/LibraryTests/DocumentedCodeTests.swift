import Foundation
import SIWATestSupport
import Testing

/// The Swift code in the documentation compiles: in the pages, in comments of public declarations, and
/// in README.
@Suite struct DocumentedCodeTests {
    @Test func `all Swift code in the documentation compiles`() async throws {
        let blocks = try Self.blocks()
        #expect(blocks.count > 30)
        let folder = try TemporaryFolder()
        try await buildStubs(in: folder)
        let prelude = try String(
            contentsOf: Self.folder.appending(path: "Prelude.swift"), encoding: .utf8)
        try folder.write("Prelude.swift", prelude)
        for (number, block) in blocks.enumerated() {
            try folder.write("Block\(number).swift", block.program(number))
        }
        let files = ["Prelude.swift"] + blocks.indices.map { "Block\($0).swift" }
        let result = try await swiftc(
            ["-typecheck", "-module-name", "Documented", "-suppress-warnings"]
                + files.map(folder.path), folder)
        #expect(result.exitCode == 0, "\(result.errors)")
    }

    @Test func `the manifests in the documentation can be read`() async throws {
        let manifests = try Self.allBlocks().filter(\.isManifest)
        #expect(!manifests.isEmpty)
        for manifest in manifests {
            let folder = try TemporaryFolder()
            try folder.write("Package.swift", manifest.code)
            let result = try await swift([
                "package", "--package-path", folder.path("."), "dump-package",
            ])
            #expect(result.exitCode == 0, "\(manifest.place): \(result.errors)")
        }
    }

    private static let folder = packageRoot.appending(path: "Tests/LibraryTests/Documented")

    /// Other packages' modules, with the signatures that the documentation uses.
    private func buildStubs(in folder: TemporaryFolder) async throws {
        let stubs = Self.folder.appending(path: "Stubs")
        for name in [
            "NIOCore", "NIOHTTP1", "Logging", "AsyncHTTPClient", "Metrics", "Tracing", "Crypto",
        ] {
            let result = try await swiftc(
                [
                    "-emit-module", "-module-name", name, "-o", folder.path("\(name).swiftmodule"),
                    "-enable-upcoming-feature", "InternalImportsByDefault",
                    stubs.appending(path: "\(name).swift").path(),
                ], folder)
            #expect(result.exitCode == 0, "\(result.errors)")
        }
    }

    private func swiftc(
        _ arguments: [String], _ folder: TemporaryFolder
    ) async throws -> ProgramResult {
        try await swift(
            arguments + ["-swift-version", "6", "-I", folder.path(".")] + builtModuleArguments(),
            tool: "swiftc")
    }
}

// Reading.
extension DocumentedCodeTests {
    struct Block: Sendable {
        let place: String
        let code: String

        var isManifest: Bool { code.contains("import PackageDescription") }
        /// A piece of a manifest, or of a file whose rest is left out.
        var isFragment: Bool { code.contains("…") || code.contains(".package(") }

        /// A file in which the code is the body of a function.
        func program(_ number: Int) -> String {
            let lines = code.split(separator: "\n", omittingEmptySubsequences: false)
            let imports = lines.filter { $0.hasPrefix("import ") }.map(String.init)
            let rest = lines.filter { !$0.hasPrefix("import ") }.map {
                $0.replacing("@Test func", with: "func")
            }
            let usual = [
                "Crypto", "Foundation", "SignInWithApple", "SignInWithAppleCurl",
                "SignInWithAppleEmulator", "SignInWithAppleVault", "Testing",
            ].map { "import \($0)" }
            return """
                \(Set(usual + imports).sorted().joined(separator: "\n"))

                func block\(number)() async throws {
                    #sourceLocation(file: "\(place)", line: 1)
                \(rest.joined(separator: "\n"))
                    #sourceLocation()
                }

                """
        }
    }

    private static func blocks() throws -> [Block] {
        try allBlocks().filter { !$0.isFragment }
    }

    private static func allBlocks() throws -> [Block] {
        var blocks: [Block] = []
        for page in try pages() {
            let text = try String(contentsOf: packageRoot.appending(path: page), encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(
                String.init)
            blocks +=
                page.hasSuffix(".swift")
                ? self.blocks(in: comments(lines), page) : self.blocks(in: lines, page)
        }
        return blocks
    }

    private static func pages() throws -> [String] {
        let sources = packageRoot.appending(path: "Sources")
        let products = PublicInterfaceTests.products.flatMap { product in
            let all =
                FileManager.default.enumerator(
                    atPath: sources.appending(path: product).path())?.allObjects as? [String]
            return (all ?? []).filter { $0.hasSuffix(".swift") || $0.hasSuffix(".md") }
                .map { "Sources/\(product)/\($0)" }
        }
        return (products + ["README.md", "docs/conformance.md", "docs/library.md"]).sorted()
    }

    /// The text of documentation comments; other lines are empty.
    private static func comments(_ lines: [String]) -> [String] {
        lines.map { line in
            let trimmed = line.drop { $0 == " " }
            return trimmed.hasPrefix("///")
                ? String(trimmed.dropFirst(trimmed.hasPrefix("/// ") ? 4 : 3)) : ""
        }
    }

    private static func blocks(in lines: [String], _ page: String) -> [Block] {
        var blocks: [Block] = []
        var code: [String]?
        for (number, line) in lines.enumerated() {
            if let body = code {
                if line == "```" {
                    let start = number - body.count
                    blocks.append(
                        Block(place: "\(page):\(start)", code: body.joined(separator: "\n")))
                    code = nil
                } else {
                    code?.append(line)
                }
            } else if line == "```swift" {
                code = []
            }
        }
        return blocks
    }
}
