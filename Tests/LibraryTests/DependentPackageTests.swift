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
        // The package's own scratch folder is locked while its tests run.
        let scratch = try TemporaryFolder()
        let result = try await swift([
            "package", "--package-path", packageRoot.path(), "--scratch-path", scratch.path("."),
            "dump-package",
        ])
        let package = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let targets = try #require(package["targets"] as? [[String: Any]])
        let names = targets.filter { $0["type"] as? String != "test" }
            .compactMap { $0["name"] as? String }
        #expect(names.count > 10)
        #expect(
            names.filter { name in
                !["SIWA", "SignInWithApple", "siwa"].contains(where: name.hasPrefix)
            } == [])
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
