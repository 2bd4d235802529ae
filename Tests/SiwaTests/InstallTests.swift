import Foundation
import SIWATestSupport
import Testing

/// `make install` and `make uninstall`, as root runs them: without Swift on the PATH.
@Suite(.enabled(if: Executable.installed("make") != nil, "needs make"))
struct InstallTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `install copies what was built, with every page that a page refers to`() async throws
    {
        let products = try products
        let before = try Self.times(products)
        let result = try await make("install", "RELEASE=\(products)")
        #expect(result.exitCode == 0, "\(result)")
        #expect(try Self.times(products) == before)
        let installed = try files()
        for name in ["siwa", "siwa-server", "siwa-emulator"] {
            #expect(try permissions("usr/bin/\(name)") == 0o755)
            for script in [
                "bash-completion/completions/\(name)", "zsh/site-functions/_\(name)",
                "fish/vendor_completions.d/\(name).fish",
            ] {
                #expect(try text("usr/share/\(script)").contains(name), "\(script)")
            }
        }
        let pages = installed.filter { $0.hasPrefix("usr/share/man/man1/") }
        #expect(pages.count > 30)
        for page in pages {
            #expect(try permissions(page) == 0o644)
            let text = try text(page)
            let title = page.split(separator: "/").last?.dropLast(2).uppercased() ?? ""
            #expect(text.hasPrefix(".TH \(title.replacing("-", with: "\\-")) 1 "), "\(page)")
            for name in Self.pages(namedIn: text) {
                #expect(pages.contains("usr/share/man/man1/\(name).1"), "\(page) names \(name)")
            }
        }
        let version = try await Executable(path: folder.path("usr/bin/siwa")).run("--version")
        #expect(version.output.hasPrefix("siwa "), "\(version)")
        // What others have installed stays.
        try folder.write("usr/bin/other", "")
        let removed = try await make("uninstall")
        #expect(removed.exitCode == 0, "\(removed)")
        #expect(try files() == ["usr/bin/other"])
    }

    @Test func `if nothing was built, install neither builds nor copies anything`() async throws {
        let result = try await make("install", "RELEASE=\(folder.path("nowhere"))")
        #expect(result.exitCode == 2, "\(result)")
        #expect(result.errors.contains("run 'make build' first, not as root"), "\(result)")
        #expect(try files() == [])
    }

    @Test(arguments: ["siwa", "siwa-server", "siwa-emulator"], ["manual", "completions"])
    func `a folder that is missing is named`(_ program: String, _ command: String) async throws {
        let missing = folder.path("missing")
        let result = try await Executable.product(program).run(command, "--all", missing)
        #expect(result.exitCode == 3 && result.output.isEmpty, "\(result)")
        let pointer =
            program == "siwa-emulator" ? "" : "hint: see 'siwa help errors configuration'\n"
        #expect(
            result.errors == """
                \(program): configuration: cannot write to '\(missing)': no such file or directory
                hint: create the folder, or give another one
                \(pointer)
                """)
        #expect(try files() == [])
    }

    private func make(_ arguments: String...) async throws -> ProgramResult {
        let make = try #require(Executable.installed("make"))
        return try await make.run(
            .init(
                ["-C", Self.root] + arguments + ["DESTDIR=\(folder.path)", "PREFIX=/usr"],
                environment: [
                    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                    "LD_LIBRARY_PATH": "/opt/swift/usr/lib/swift/linux",
                ], limit: .seconds(300)))
    }

    private var products: String {
        get throws {
            try Executable.product("siwa").path.split(separator: "/").dropLast()
                .reduce(into: "") { $0 += "/" + $1 }
        }
    }

    /// The pages that a page names: `\fBsiwa\-vault\-list\fR(1)`.
    private static func pages(namedIn text: String) -> [String] {
        text.replacingOccurrences(of: "\\", with: "").components(separatedBy: "fR(1)").dropLast()
            .compactMap { $0.components(separatedBy: "fB").last }
    }

    private static func times(_ folder: String) throws -> [Date?] {
        try ["siwa", "siwa-server", "siwa-emulator"].map { name in
            try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.modificationDate]
                as? Date
        }
    }

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(
                atPath: folder.path(path), isDirectory: &isFolder)
            return !isFolder.boolValue
        }.sorted()
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try folder.contents(name), as: UTF8.self)
    }

    private func permissions(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.path(name))[.posixPermissions]
            as? Int
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path()
}
