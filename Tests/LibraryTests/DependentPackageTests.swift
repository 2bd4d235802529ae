import Foundation
import SIWATestSupport
import Testing

/// What the Swift package manager says about a package that depends on this one.
@Suite struct DependentPackageTests {
    /// Names that other packages have for targets, and that targets of this package once had.
    private static let targets = [
        "JOSE", "Lifecycle", "CSQLite", "HTTPServer", "CMicroHTTPD", "LocalFiles", "CommandTable",
        "Diagnosis", "Records", "Databases", "CurlTransport", "TokenVault", "TestSupport",
    ]

    @Test func `a package whose targets have usual names can depend on this one`() async throws {
        let result = try await resolve(withTargets: Self.targets)
        #expect(result.exitCode == 0, "\(result)")
    }

    @Test func `a target that this package has, too, is refused`() async throws {
        let result = try await resolve(withTargets: ["SIWACrypto"])
        #expect(result.exitCode != 0 && result.errors.contains("SIWACrypto"), "\(result)")
    }

    @Test func `every target has a prefix of this package`() async throws {
        let names = try await Manifest.read().targets.filter { $0.type != "test" }.map(\.name)
        #expect(names.count > 10)
        #expect(
            names.filter { name in
                !["SIWA", "SignInWithApple", "siwa"].contains(where: name.hasPrefix)
            } == [])
    }

    /// What is linked into an executable alone replaces the host program's `CommandLine`.
    @Test(arguments: [
        // SIWACProcess has the C library's own headers: signers are asked over sockets.
        ("SignInWithApple", ["SIWACOpenSSL", "SIWACProcess"]),
        ("SignInWithAppleCurl", ["SIWACCurl", "SIWACOpenSSL", "SIWACProcess"]),
        (
            "SignInWithAppleVault",
            ["SIWACOpenSSL", "SIWACPostgres", "SIWACProcess", "SIWACSQLite"]
        ),
        ("SignInWithAppleEmulator", ["SIWACOpenSSL", "SIWACProcess"]),
    ]) func `a product needs the headers of these C libraries, and no entry point`(
        _ product: String, _ libraries: [String]
    ) async throws {
        let targets = try await Manifest.read().targets(beneath: product)
        #expect(targets.filter { $0.type == "system" }.map(\.name).sorted() == libraries)
        #expect(!targets.map(\.name).contains("SIWAEntryPoint"))
        #expect(targets.allSatisfy { $0.pkgConfig == nil }, "SwiftPM would warn of a missing one")
    }

    @Test(arguments: [
        ("SIWACCurl", "libcurl4-openssl-dev"), ("SIWACSQLite", "libsqlite3-dev"),
        ("SIWACPostgres", "libpq-dev"), ("SIWACOpenSSL", "libssl-dev"),
        ("SIWACMicroHTTPD", "libmicrohttpd-dev"),
    ]) func `a missing header is an error that names the Debian package`(
        _ module: String, _ package: String
    ) async throws {
        let shim = packageRoot.appending(path: "Sources/\(module)/shim.h").path()
        let result = try await swift(
            ["-fsyntax-only", "-nostdinc", "-x", "c", shim], tool: "clang")
        let first = result.errors.split(separator: "\n").first { $0.contains("error: ") } ?? ""
        #expect(result.exitCode != 0 && first.hasSuffix("install \(package)\""), "\(result)")
    }

    private func resolve(withTargets names: [String]) async throws -> ProgramResult {
        let folder = try TemporaryFolder()
        for name in names {
            try folder.write("Sources/\(name)/\(name).swift", "public let name = \"\(name)\"\n")
        }
        try folder.write("Sources/app/app.swift", "import SignInWithApple\n")
        let products = PublicInterfaceTests.products
            .map { ".product(name: \"\($0)\", package: \"siwa\")" }
        let targets = names.map { ".target(name: \"\($0)\")" }
        let dependencies = names.map { "\"\($0)\"" } + products
        try folder.write(
            "Package.swift",
            """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "dependent",
                dependencies: [.package(name: "siwa", path: "\(packageRoot.path())")],
                targets: [
                    \(targets.joined(separator: ",\n")),
                    .target(name: "app", dependencies: [\(dependencies.joined(separator: ", "))]),
                ])
            """)
        return try await swift(
            ["package", "--package-path", folder.path("."), "show-dependencies"])
    }
}

/// The manifest of this package.
private struct Manifest: Decodable {
    struct Target: Decodable {
        let name: String
        let type: String
        let pkgConfig: String?
        let dependencies: [Dependency]
    }

    /// `{"byName": ["SIWAJOSE", null]}`
    struct Dependency: Decodable {
        let byName: [String?]?
    }

    let targets: [Target]

    static func read() async throws -> Self {
        // The package's own scratch folder is locked while its tests run.
        let scratch = try TemporaryFolder()
        let result = try await swift([
            "package", "--package-path", packageRoot.path(), "--scratch-path", scratch.path("."),
            "dump-package",
        ])
        return try JSONDecoder().decode(Self.self, from: Data(result.output.utf8))
    }

    /// The target of a product, and all targets that it depends on.
    func targets(beneath product: String) -> [Target] {
        var names = [product]
        var found: [Target] = []
        while let name = names.popLast() {
            guard !found.contains(where: { $0.name == name }),
                let target = targets.first(where: { $0.name == name })
            else { continue }
            found.append(target)
            names += target.dependencies.compactMap { $0.byName?.first ?? nil }
        }
        return found
    }
}
