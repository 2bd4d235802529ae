import Foundation
import SIWACLI
import SIWACommandTable
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWAApplication

/// The documentation agrees with the program.
@Suite struct DocumentationTests {
    @Test func `every cause of invalid_client is documented, in the order of the diagnosis`() throws
    {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/invalid-client.md")
        let text = try String(contentsOf: path, encoding: .utf8)
        let rows = text.components(separatedBy: "## The causes").last?.split(separator: "\n") ?? []
        let codes = rows.compactMap { row -> String? in
            guard row.hasPrefix("| `") else { return nil }
            return row.dropFirst(3).split(separator: "`").first.map(String.init)
        }
        #expect(codes == FindingCode.allCases.map(\.rawValue))
        #expect(rows.filter { $0.hasPrefix("| `") }.allSatisfy { $0.count { $0 == "|" } == 5 })
    }

    @Test func `README is a page that one reads to its end`() throws {
        let lines = try Self.text("README.md").split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count < 150)
        for name in ["make demo", "make test", "docs/README.md", "docs/reference.md"] {
            #expect(lines.contains { $0.contains(name) }, "README does not name \(name)")
        }
    }

    @Test(arguments: pages.filter { $0.hasPrefix("docs/runbooks/") })
    func `a runbook uses siwa-admin, and leaves nothing for the reader to invent`(_ page: String)
        throws
    {
        let blocks = try Self.text(page).components(separatedBy: "```")
        let commands = blocks.indices.filter { $0 % 2 == 1 && blocks[$0].hasPrefix("sh\n") }
            .flatMap { blocks[$0].split(separator: "\n").dropFirst() }
        #expect(!commands.isEmpty)
        for line in commands {
            #expect(!line.contains("…"), "\(page): \(line)")
            let words = line.split(separator: " ").map(String.init)
            guard words.first == "siwa" else { continue }
            #expect(words.contains("doctor"), "\(page): siwa-admin in place of \(line)")
        }
    }

    /// The rules are in the script: `make test-pages` runs it before the commands themselves.
    @Test func `commands about the files of the service are printed as the service runs them`()
        async throws
    {
        let script = Self.root.appending(path: "packaging/check-pages").path()
        let result = try await Executable(path: script).run(
            Executable.Call([], environment: ["PATH": "/usr/bin:/bin"]))
        #expect(result.exitCode == 0, "\(result)")
    }

    @Test func `the index of the documents names every document`() throws {
        let index = try Self.text("docs/README.md")
        for page in Self.pages where page.hasPrefix("docs/") && page != "docs/README.md" {
            let name = String(page.dropFirst("docs/".count))
            guard !name.hasPrefix("decisions/") else { continue }
            #expect(index.contains("(\(name))"), "docs/README.md does not link \(name)")
        }
    }

    static let pages: [String] = {
        let names = ["docs", "deploy", "Tests"].flatMap { folder in
            let path = root.appending(path: folder).path()
            let names = FileManager.default.enumerator(atPath: path)?.allObjects as? [String]
            return (names ?? []).map { "\(folder)/\($0)" }
        }
        return ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
            + names.filter { $0.hasSuffix(".md") }.sorted()
    }()

    @Test(arguments: pages) func `every file that a document names exists`(_ page: String) throws {
        let text = try Self.text(page)
        let folders = ["Sources/", "Tests/", "docs/", "Benchmarks/", ".ci/"]
        let names = Self.code(in: text).flatMap { $0.split(separator: " ") }.map(String.init)
            .filter { name in
                folders.contains { name.hasPrefix($0) } && !name.contains("TARGET")
                    && !name.contains("*") && !name.contains("…")
            }
        for name in names {
            #expect(Self.exists(Self.root.appending(path: name)), "\(page) names \(name)")
        }
        let sources = Set(Self.swiftFiles)
        for name in Self.code(in: text)
        where name.hasSuffix(".swift") && !name.contains(" ") && !name.contains("*") {
            let file = name.split(separator: "/").last.map(String.init) ?? name
            #expect(sources.contains(file), "\(page) names \(name)")
        }
    }

    @Test(arguments: pages) func `every link leads to a file`(_ page: String) throws {
        let folder = Self.root.appending(path: page).deletingLastPathComponent()
        for part in try Self.text(page).components(separatedBy: "](").dropFirst() {
            let target = part.prefix { $0 != ")" && $0 != "#" && $0 != " " }
            guard !target.isEmpty, !target.contains(":") else { continue }
            #expect(Self.exists(folder.appending(path: String(target))), "\(page) links \(target)")
        }
    }

    @Test(arguments: pages) func `every make target that a document names exists`(_ page: String)
        throws
    {
        let makefile = try Self.text("Makefile").split(separator: "\n")
        let targets = Set(
            makefile.compactMap { line in
                line.first?.isLetter == true
                    ? line.split(separator: ":", maxSplits: 1).first.map(String.init) : nil
            })
        for code in Self.code(in: try Self.text(page)) {
            let words = code.split(separator: " ").drop { $0 == "sudo" }.map(String.init)
            guard words.first == "make", words.count > 1, !words[1].contains("=") else { continue }
            #expect(targets.contains(words[1]), "\(page) names make \(words[1])")
        }
    }

    static let units: [String] = {
        let folder = root.appending(path: "deploy/systemd").path()
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { $0.hasSuffix(".service") }.map { "deploy/systemd/\($0)" }.sorted()
    }()

    @Test(arguments: units)
    func `a unit fails when a run is stopped or incomplete, and leaves no core dump`(
        _ unit: String
    ) throws {
        let lines = try Self.text(unit).split(separator: "\n").map(String.init)
        #expect(lines.contains("LimitCORE=0"))
        let successes = lines.filter { $0.hasPrefix("SuccessExitStatus=") }
            .flatMap { $0.split { " =".contains($0) }.dropFirst().map(String.init) }
        // 75 and 77 of a signer are answers (docs/signers.md).
        let isSigner = unit.hasSuffix("siwa-signer@.service")
        #expect(
            Set(successes).isDisjoint(with: isSigner ? ["9", "74"] : ["9", "74", "75"]),
            "\(successes)")
        for line in lines where line.hasPrefix("ExecStart=/usr/bin/siwa ") {
            // The environment of a unit: `${LIFETIME}` is one word, `$DEPLOY` any number of them.
            let words = line.split(separator: " ").dropFirst().map(String.init)
                .map { $0.hasPrefix("${") ? "30d" : $0 }.filter { !$0.hasPrefix("$") }
            #expect(throws: Never.self, "\(line)") { try siwaTool.parse(words) }
        }
    }

    @Test func `the documented age for a daily check is 23 hours, and --rate applies to a run`()
        throws
    {
        let help = try siwaTool.help(for: "batch refresh")
        #expect(help.contains("--not-checked-for 23h"))
        for text in [help] + (try Self.pages.map(Self.text)) {
            #expect(!text.contains("--not-checked-for 24h"))
        }
        let words = help.split { $0.isWhitespace }.joined(separator: " ")
        #expect(words.contains("on a shared vault the limit is per run"), "\(words)")
    }

    @Test func `every test that docs/security.md names exists`() throws {
        let rows = try Self.text("docs/security.md").split(separator: "\n").filter {
            $0.hasPrefix("| ") && $0.hasSuffix("* |")
        }
        let folder = Self.root.appending(path: "Tests")
        let files = FileManager.default.enumerator(atPath: folder.path())?.allObjects as? [String]
        let tests = try (files ?? []).filter { $0.hasSuffix("Tests.swift") }
            .map { try Self.text("Tests/\($0)") }
        for row in rows {
            let cell = row.dropLast(2).components(separatedBy: " | ").last ?? ""
            for name in cell.dropFirst().dropLast().components(separatedBy: "*, *") {
                #expect(
                    tests.contains { $0.contains("func `\(name)`") }, "there is no test '\(name)'")
            }
        }
        #expect(rows.count >= 15)
    }

    @Test func `the map of targets lists each target above its imports`() throws {
        let rows = try Self.text("docs/design.md").split(separator: "\n")
            .drop { $0 != "|---|---|" }.dropFirst().prefix { $0.hasPrefix("| `") }
            .map { $0.split(separator: "|")[0].split { " `,".contains($0) }.map(String.init) }
        var row: [String: Int] = [:]
        for (number, names) in rows.enumerated() { for name in names { row[name] = number } }
        let folder = Self.root.appending(path: "Sources").path()
        let targets = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { !$0.contains(".") }
        #expect(Set(row.keys) == Set(targets))
        let files = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String]
        for file in (files ?? []).filter({ $0.hasSuffix(".swift") }) {
            let target = file.split(separator: "/").first.map(String.init) ?? ""
            for line in try Self.text("Sources/\(file)").split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.dropLast().last == "import", let name = words.last.map(String.init),
                    let imported = row[name]
                else { continue }
                #expect(imported > row[target] ?? .max, "\(file) imports \(name)")
            }
        }
    }

    @Test func `every file that the map of the design names exists`() throws {
        let folder = Self.root.appending(path: "Sources").path()
        let all = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String]
        let sources = (all ?? []).map { "/\($0)" }
        let named = try Self.text("docs/design.md").split(separator: "`").filter {
            $0.hasSuffix(".swift") && !$0.contains(" ")
        }
        for name in named {
            #expect(sources.contains { $0.hasSuffix("/\(name)") }, "there is no \(name)")
        }
        #expect(named.count > 60)
    }

    @Test func `every figure of the page about performance is one of the committed tables`() throws
    {
        let tables = try ["README", "vault"].map { try Self.text("docs/benchmarks/\($0).md") }
            .joined()
        let page = try Self.text("docs/performance.md")
        let goals = page.split(separator: "\n").filter {
            $0.contains("| ≥ ") || $0.contains("| ≤ ")
        }
        for goal in goals { #expect(tables.contains(goal), "no table has '\(goal)'") }
        let words = page.split { !($0.isNumber || $0 == "." || $0 == ",") }
        let figures = words.map { $0.trimmingCharacters(in: ["."]) }.filter { $0.contains(".") }
        for figure in figures { #expect(tables.contains(figure), "no table has \(figure)") }
    }

    @Test func `only the library repeats the name of a type, that of the engine's type behind it`()
        throws
    {
        let folder = Self.root.appending(path: "Sources").path()
        let files = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String]
        var modules: [Substring: Set<Substring>] = [:]
        for file in (files ?? []).filter({ $0.hasSuffix(".swift") }) {
            for line in try Self.text("Sources/\(file)").split(separator: "\n") {
                let words = line.prefix { !":<{".contains($0) }.split(separator: " ")
                guard let first = words.first, first != "private", first != "fileprivate",
                    line.first?.isWhitespace == false,
                    let kind = words.firstIndex(where: {
                        ["struct", "class", "enum", "actor", "protocol"].contains($0)
                    }), words[..<kind].allSatisfy({ $0.allSatisfy(\.isLetter) }),
                    kind + 1 == words.count - 1
                else { continue }
                modules[words[kind + 1], default: []].insert(file.prefix { $0 != "/" })
            }
        }
        for (name, modules) in modules where modules.count > 1 {
            let engine = modules.filter { !$0.hasPrefix("SignInWithApple") }
            #expect(engine.count <= 1, "\(name) is in \(modules.sorted())")
        }
        #expect(modules.count > 500)
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: root.appending(path: name), encoding: .utf8)
    }

    private static func exists(_ url: URL) -> Bool {
        FileManager.default.fileExists(atPath: url.path())
    }

    /// The text between single backticks, and each line of a block.
    private static func code(in text: String) -> [String] {
        let blocks = text.components(separatedBy: "```")
        let lines = blocks.indices.filter { $0 % 2 == 1 }
            .flatMap { blocks[$0].split(separator: "\n").dropFirst().map(String.init) }
        let prose = blocks.indices.filter { $0 % 2 == 0 }.flatMap { index -> [String] in
            let parts = blocks[index].components(separatedBy: "`")
            return parts.indices.filter { $0 % 2 == 1 }.map { parts[$0] }
        }
        return lines + prose
    }

    private static let swiftFiles: [String] = ["Sources", "Tests", "Benchmarks"].flatMap { folder in
        let files =
            FileManager.default.enumerator(atPath: root.appending(path: folder).path())?.allObjects
            as? [String] ?? []
        return files.filter { $0.hasSuffix(".swift") }
            .compactMap { $0.split(separator: "/").last.map(String.init) }
    }
}
