// swift-tools-version: 6.2
import PackageDescription

/// Every target speaks the same strict Swift; see docs/design.md.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// Unsafe code is confined to the adapters around C: everything else is checked for it.
let safe = strict + [.strictMemorySafety()]

let package = Package(
    name: "siwa",
    products: [
        .library(name: "SignInWithApple", targets: ["SignInWithApple"]),
        .library(name: "AppleEmulator", targets: ["AppleEmulator"]),
        .executable(name: "siwa", targets: ["siwa"]),
        .executable(name: "siwa-emulator", targets: ["siwa-emulator"]),
    ],
    targets: [
        // No pkgConfig for these four: it would link the libraries, which are loaded when they are
        // first used (docs/decisions/linking.md).
        .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CProcess"),
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),

        .target(name: "CommandTable", swiftSettings: safe),
        .target(
            name: "LocalFiles", dependencies: ["CProcess", "SIWACrypto"], swiftSettings: strict),
        .target(name: "SIWACrypto", dependencies: ["COpenSSL"], swiftSettings: strict),
        .target(name: "SignInWithApple", dependencies: ["SIWACrypto"], swiftSettings: safe),
        .target(
            name: "CurlTransport", dependencies: ["CCurl", "SignInWithApple", "SIWACrypto"],
            swiftSettings: strict),
        .target(
            name: "TokenVault", dependencies: ["CSQLite", "CPostgres", "SignInWithApple"],
            swiftSettings: strict),
        .target(
            name: "AppleEmulator", dependencies: ["SignInWithApple", "SIWACrypto"],
            swiftSettings: safe),
        .target(
            name: "EmulatorServer",
            dependencies: ["CMicroHTTPD", "AppleEmulator", "SignInWithApple", "SIWACrypto"],
            swiftSettings: strict),
        .target(
            name: "SIWACLI",
            dependencies: ["CommandTable", "LocalFiles", "SignInWithApple", "SIWACrypto"],
            swiftSettings: safe),
        .executableTarget(
            name: "siwa", dependencies: ["SIWACLI", "CurlTransport", "LocalFiles", "TokenVault"],
            swiftSettings: safe),
        .executableTarget(
            name: "siwa-emulator",
            dependencies: [
                "EmulatorServer", "CurlTransport", "AppleEmulator", "CommandTable", "LocalFiles",
                "SignInWithApple", "SIWACrypto",
            ],
            swiftSettings: safe),

        .target(
            name: "TestSupport", dependencies: ["SignInWithApple", "SIWACrypto"],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "CommandTableTests", dependencies: ["CommandTable"], exclude: ["Snapshots"],
            swiftSettings: strict),
        .testTarget(
            name: "AppleEmulatorTests",
            dependencies: ["AppleEmulator", "SignInWithApple", "SIWACrypto", "TestSupport"],
            swiftSettings: strict),
        // What docs/testing-your-app.md shows.
        .testTarget(
            name: "FixtureTests", dependencies: ["AppleEmulator", "SignInWithApple"],
            path: "Tests/Clients/fixtures",
            exclude: ["go", "node", "pytest", "check.py", "update.py"],
            swiftSettings: strict),
        .testTarget(
            name: "CurlTransportTests",
            dependencies: [
                "CurlTransport", "LocalFiles", "SignInWithApple", "SIWACrypto", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "EmulatorServerTests",
            dependencies: [
                "EmulatorServer", "AppleEmulator", "CommandTable", "SignInWithApple", "SIWACrypto",
                "TestSupport", "siwa-emulator", "siwa",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HostileServerTests",
            dependencies: ["siwa", "LocalFiles", "SignInWithApple", "SIWACrypto", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "SiwaTests",
            dependencies: [
                "siwa", "siwa-emulator", "CurlTransport", "TokenVault", "SignInWithApple",
                "SIWACrypto", "TestSupport",
            ], swiftSettings: strict),
        .testTarget(
            name: "SIWACLITests",
            dependencies: [
                "SIWACLI", "CommandTable", "LocalFiles", "SignInWithApple", "SIWACrypto",
                "AppleEmulator", "TestSupport",
            ], exclude: ["Scenarios"], swiftSettings: strict),
        .testTarget(
            name: "SIWACryptoTests", dependencies: ["SIWACrypto", "COpenSSL"], exclude: ["Vectors"],
            swiftSettings: strict, linkerSettings: [.linkedLibrary("crypto")]),
        .testTarget(
            name: "SignInWithAppleTests",
            dependencies: ["SignInWithApple", "SIWACrypto", "TestSupport"],
            exclude: ["Vectors"], swiftSettings: strict),
        .testTarget(
            name: "TokenVaultTests",
            dependencies: [
                "TokenVault", "CSQLite", "SignInWithApple", "SIWACrypto", "TestSupport",
            ],
            exclude: ["Fixtures"], swiftSettings: strict),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "SIWACLI", "CommandTable", "LocalFiles", "SignInWithApple", "SIWACrypto",
            ], path: "Tests/Fuzz/Targets", swiftSettings: safe),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Tests",
            swiftSettings: strict),
        .testTarget(
            name: "LocalFilesTests", dependencies: ["LocalFiles", "SIWACrypto"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// Built by `make fuzz` alone: only libFuzzer has a `main` for it (docs/testing.md).
if Context.environment["SIWA_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "siwa-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Harness",
            swiftSettings: strict))
}

// Built by `make bench` alone.
if Context.environment["SIWA_BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "siwa-bench", dependencies: ["SignInWithApple", "SIWACrypto"],
            path: "Benchmarks", exclude: ["Peers"], swiftSettings: strict))
}
