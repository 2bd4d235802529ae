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

// Linux with glibc is what is supported and tested.
let package = Package(
    name: "siwa",
    products: [
        .library(name: "SignInWithApple", targets: ["SignInWithApple"]),
        .library(name: "SignInWithAppleCurl", targets: ["SignInWithAppleCurl"]),
        .library(name: "SignInWithAppleVault", targets: ["SignInWithAppleVault"]),
        .library(name: "SignInWithAppleEmulator", targets: ["SignInWithAppleEmulator"]),
        .executable(name: "siwa", targets: ["siwa"]),
        .executable(name: "siwa-server", targets: ["siwa-server"]),
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
        .target(name: "JOSE", dependencies: ["SIWACrypto"], swiftSettings: safe),
        .target(name: "Lifecycle", dependencies: ["JOSE", "SIWACrypto"], swiftSettings: safe),
        .target(
            name: "ServerRecords", dependencies: ["JOSE", "Lifecycle", "SIWACrypto"],
            swiftSettings: safe),
        .target(
            name: "Diagnosis", dependencies: ["JOSE", "Lifecycle", "SIWACrypto"],
            swiftSettings: safe),
        .target(
            name: "CurlTransport", dependencies: ["CCurl", "Lifecycle", "SIWACrypto"],
            swiftSettings: strict),
        .target(
            name: "TokenVault",
            dependencies: [
                "CSQLite", "CPostgres", "LocalFiles", "JOSE", "Lifecycle", "ServerRecords",
                "SIWACrypto",
            ],
            swiftSettings: strict),
        .target(
            name: "AppleEmulator", dependencies: ["JOSE", "Lifecycle", "Diagnosis", "SIWACrypto"],
            swiftSettings: safe),
        // The products: what other packages import (docs/decisions/library.md).
        .target(
            name: "SignInWithApple", dependencies: ["JOSE", "Lifecycle", "SIWACrypto"],
            swiftSettings: safe),
        .target(
            name: "SignInWithAppleCurl",
            dependencies: ["SignInWithApple", "CurlTransport", "Lifecycle"], swiftSettings: safe),
        .target(
            name: "SignInWithAppleVault",
            dependencies: [
                "SignInWithApple", "TokenVault", "JOSE", "Lifecycle", "LocalFiles", "SIWACrypto",
            ],
            swiftSettings: safe),
        .target(
            name: "SignInWithAppleEmulator",
            dependencies: [
                "SignInWithApple", "AppleEmulator", "JOSE", "Lifecycle", "SIWACrypto",
            ], swiftSettings: safe),
        .target(
            name: "HTTPServer", dependencies: ["CMicroHTTPD", "JOSE", "Lifecycle"],
            swiftSettings: strict),
        .target(
            name: "EmulatorServer", dependencies: ["AppleEmulator", "HTTPServer", "Lifecycle"],
            swiftSettings: safe),
        .target(
            name: "SIWACLI",
            dependencies: [
                "CommandTable", "LocalFiles", "JOSE", "Lifecycle", "Diagnosis", "ServerRecords",
                "SIWACrypto",
            ],
            swiftSettings: safe),
        .target(
            name: "SIWAServer",
            dependencies: [
                "CommandTable", "HTTPServer", "LocalFiles", "JOSE", "Lifecycle", "ServerRecords",
                "SIWACLI", "SIWACrypto",
            ],
            swiftSettings: safe),
        .target(
            name: "RealWorld",
            dependencies: [
                "SIWACLI", "CurlTransport", "JOSE", "Lifecycle", "LocalFiles", "ServerRecords",
                "SIWACrypto", "TokenVault",
            ],
            swiftSettings: safe),
        .executableTarget(
            name: "siwa", dependencies: ["SIWACLI", "Lifecycle", "LocalFiles", "RealWorld"],
            swiftSettings: safe),
        .executableTarget(
            name: "siwa-server",
            dependencies: [
                "SIWAServer", "SIWACLI", "CurlTransport", "HTTPServer", "Lifecycle", "LocalFiles",
                "RealWorld",
            ],
            swiftSettings: safe),
        .executableTarget(
            name: "siwa-emulator",
            dependencies: [
                "EmulatorServer", "HTTPServer", "CurlTransport", "AppleEmulator", "CommandTable",
                "LocalFiles", "JOSE", "Lifecycle", "SIWACrypto",
            ],
            swiftSettings: safe),

        .target(
            name: "TestSupport", dependencies: ["JOSE", "Lifecycle", "SIWACrypto"],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "CommandTableTests", dependencies: ["CommandTable", "TestSupport"],
            exclude: ["Snapshots"], swiftSettings: strict),
        .testTarget(
            name: "AppleEmulatorTests",
            dependencies: ["AppleEmulator", "JOSE", "Lifecycle", "SIWACrypto", "TestSupport"],
            swiftSettings: strict),
        // What docs/testing-your-app.md shows.
        .testTarget(
            name: "FixtureTests", dependencies: ["SignInWithApple", "SignInWithAppleEmulator"],
            path: "Tests/Clients/fixtures",
            exclude: ["go", "node", "pytest", "check.py", "update.py"],
            swiftSettings: strict),
        .testTarget(
            name: "CurlTransportTests",
            dependencies: [
                "CurlTransport", "LocalFiles", "Lifecycle", "SIWACrypto", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "EmulatorServerTests",
            dependencies: [
                "EmulatorServer", "HTTPServer", "AppleEmulator", "CommandTable", "JOSE",
                "Lifecycle",
                "SIWACrypto",
                "TestSupport", "siwa-emulator", "siwa",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HostileServerTests",
            dependencies: [
                "siwa", "siwa-emulator", "siwa-server", "LocalFiles", "JOSE", "Lifecycle",
                "SIWACrypto",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SiwaTests",
            dependencies: [
                "siwa", "siwa-emulator", "siwa-server", "CurlTransport", "TokenVault", "JOSE",
                "Lifecycle", "ServerRecords", "SIWACrypto", "TestSupport",
            ], swiftSettings: strict),
        .testTarget(
            name: "SIWACLITests",
            dependencies: [
                "SIWACLI", "CommandTable", "LocalFiles", "JOSE", "Lifecycle", "SIWACrypto",
                "AppleEmulator", "TestSupport",
            ], exclude: ["Scenarios"], swiftSettings: strict),
        .testTarget(
            name: "SIWACryptoTests", dependencies: ["SIWACrypto", "COpenSSL", "TestSupport"],
            exclude: ["Vectors"], swiftSettings: strict, linkerSettings: [.linkedLibrary("crypto")]),
        .testTarget(
            name: "SignInWithAppleTests",
            dependencies: ["JOSE", "Lifecycle", "Diagnosis", "SIWACrypto", "TestSupport"],
            exclude: ["Vectors"], swiftSettings: strict),
        .testTarget(
            name: "TokenVaultTests",
            dependencies: [
                "TokenVault", "ServerRecords", "CSQLite", "JOSE", "Lifecycle", "SIWACrypto",
                "TestSupport",
            ],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "ServerRecordsTests",
            dependencies: ["ServerRecords", "JOSE", "Lifecycle", "SIWACrypto", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "SIWAServerTests",
            dependencies: [
                "SIWAServer", "AppleEmulator", "CurlTransport", "HTTPServer", "JOSE", "Lifecycle",
                "ServerRecords", "SIWACLI", "SIWACrypto", "TestSupport", "TokenVault",
            ],
            swiftSettings: strict),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "SIWACLI", "CommandTable", "LocalFiles", "JOSE", "Lifecycle", "Diagnosis",
                "SIWACrypto", "ServerRecords",
            ], path: "Tests/Fuzz/Targets", swiftSettings: safe),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Tests",
            swiftSettings: strict),
        // The products, as other packages use them.
        .testTarget(
            name: "LibraryTests",
            dependencies: [
                "SignInWithApple", "SignInWithAppleCurl", "SignInWithAppleVault",
                "SignInWithAppleEmulator", "AppleEmulator", "EmulatorServer", "Lifecycle",
                "TestSupport", "TokenVault",
            ], swiftSettings: strict),
        .testTarget(
            name: "LocalFilesTests", dependencies: ["LocalFiles", "SIWACrypto", "TestSupport"],
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

// Linked by the thread sanitizer's part of `make sanitize` alone (docs/testing.md).
if Context.environment["SIWA_TSAN"] != nil {
    package.targets.append(.target(name: "CThreadSanitizer", path: "Tests/ThreadSanitizer"))
    package.targets.first { $0.name == "SIWACrypto" }?.dependencies.append("CThreadSanitizer")
}

// Built by `make bench` alone.
if Context.environment["SIWA_BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "siwa-bench", dependencies: ["JOSE", "Lifecycle", "SIWACrypto", "TokenVault"],
            path: "Benchmarks",
            exclude: ["Peers", "server", "chart.gnuplot", "measure.c", "with-postgres"],
            swiftSettings: strict))
}

// What `make test` builds: the code under test is optimised, the tests are not, and debug checks and
// `@testable` stay. Not by default, because SwiftPM refuses flags like this one in a package that
// others depend on.
if Context.environment["SIWA_OPTIMISED"] != nil {
    for target in package.targets where target.type != .test && target.type != .system {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"])]
    }
}
