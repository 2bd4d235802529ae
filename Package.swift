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
        // No pkgConfig: it would link the libraries, which are loaded when they are first used
        // (docs/decisions/linking.md), and a package that depends on this one would be warned of
        // each that it does not need. The headers of Debian need no flags.
        .systemLibrary(name: "SIWACOpenSSL", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "SIWACCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "SIWACSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "SIWACPostgres", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "SIWACProcess"),
        .systemLibrary(
            name: "SIWACMicroHTTPD", providers: [.apt(["libmicrohttpd-dev"])]),

        .target(name: "SIWACommandTable", swiftSettings: safe),
        .target(
            name: "SIWASystem", dependencies: ["SIWACProcess", "SIWACrypto"], swiftSettings: strict),
        // For the executables alone: it replaces a function of the standard library.
        .target(
            name: "SIWAEntryPoint", dependencies: ["SIWACProcess", "SIWASystem"],
            swiftSettings: strict),
        .target(name: "SIWACrypto", dependencies: ["SIWACOpenSSL"], swiftSettings: strict),
        .target(
            name: "SIWAJOSE", dependencies: ["SIWACrypto"], swiftSettings: safe),
        .target(
            name: "SIWALifecycle", dependencies: ["SIWAJOSE", "SIWACrypto"],
            swiftSettings: safe),
        .target(
            name: "SIWASigners",
            dependencies: ["SIWAJOSE", "SIWALifecycle", "SIWASystem", "SIWACrypto"],
            swiftSettings: safe),
        .target(
            name: "SIWADiagnosis",
            dependencies: ["SIWAJOSE", "SIWALifecycle", "SIWACrypto"],
            swiftSettings: safe),
        .target(
            name: "SIWACurlTransport", dependencies: ["SIWACCurl", "SIWALifecycle", "SIWACrypto"],
            swiftSettings: strict),
        .target(
            name: "SIWADatabases",
            dependencies: [
                "SIWACSQLite", "SIWACPostgres", "SIWASystem", "SIWAJOSE", "SIWALifecycle",
            ],
            swiftSettings: strict),
        .target(
            name: "SIWAVaultRecords",
            dependencies: ["SIWADatabases", "SIWAJOSE", "SIWALifecycle", "SIWACrypto"],
            swiftSettings: safe),
        .target(
            name: "SIWAServerRecords",
            dependencies: [
                "SIWADatabases", "SIWAVaultRecords", "SIWAJOSE", "SIWALifecycle", "SIWACrypto",
            ],
            swiftSettings: safe),
        .target(
            name: "SIWAEmulator",
            dependencies: ["SIWAJOSE", "SIWALifecycle", "SIWADiagnosis", "SIWACrypto"],
            swiftSettings: safe),
        // The products: what other packages import (docs/decisions/library.md).
        .target(
            name: "SignInWithApple",
            dependencies: ["SIWAJOSE", "SIWALifecycle", "SIWASigners", "SIWACrypto"],
            swiftSettings: safe),
        .target(
            name: "SignInWithAppleCurl",
            dependencies: ["SignInWithApple", "SIWACurlTransport", "SIWALifecycle"],
            swiftSettings: safe),
        .target(
            name: "SignInWithAppleVault",
            dependencies: [
                "SignInWithApple", "SIWAVaultRecords", "SIWAJOSE", "SIWALifecycle",
                "SIWASystem", "SIWACrypto",
            ],
            swiftSettings: safe),
        .target(
            name: "SignInWithAppleEmulator",
            dependencies: [
                "SignInWithApple", "SIWAConformance", "SIWAEmulator", "SIWAJOSE", "SIWALifecycle",
                "SIWACrypto",
            ], swiftSettings: safe),
        .target(
            name: "SIWAHTTPServer",
            dependencies: ["SIWACMicroHTTPD", "SIWAJOSE", "SIWALifecycle"],
            swiftSettings: strict),
        .target(
            name: "SIWAEmulatorServer",
            dependencies: ["SIWAEmulator", "SIWAHTTPServer", "SIWALifecycle"],
            swiftSettings: safe),
        .target(
            name: "SIWAApplication",
            dependencies: [
                "SIWACommandTable", "SIWASystem", "SIWAJOSE", "SIWALifecycle", "SIWADiagnosis",
                "SIWASigners", "SIWAVaultRecords", "SIWAServerRecords", "SIWACrypto",
            ],
            swiftSettings: safe),
        .target(
            name: "SIWACLI",
            dependencies: [
                "SIWAApplication", "SIWACommandTable", "SIWASystem", "SIWAJOSE", "SIWALifecycle",
                "SIWADiagnosis", "SIWAVaultRecords", "SIWAServerRecords", "SIWACrypto",
            ],
            swiftSettings: safe),
        .target(
            name: "SIWAServer",
            dependencies: [
                "SIWAApplication", "SIWACommandTable", "SIWAHTTPServer", "SIWASystem", "SIWAJOSE",
                "SIWALifecycle", "SIWAVaultRecords", "SIWAServerRecords", "SIWACrypto",
            ],
            swiftSettings: safe),
        .target(
            name: "SIWAWiring",
            dependencies: [
                "SIWAApplication", "SIWACurlTransport", "SIWADatabases", "SIWAJOSE",
                "SIWALifecycle", "SIWASystem", "SIWAVaultRecords", "SIWAServerRecords",
                "SIWACrypto",
            ],
            swiftSettings: safe),
        .executableTarget(
            name: "siwa",
            dependencies: [
                "SIWACrypto", "SIWAEntryPoint",
                "SIWAApplication", "SIWACLI", "SIWALifecycle", "SIWASystem", "SIWAWiring",
            ],
            swiftSettings: safe),
        .executableTarget(
            name: "siwa-server",
            dependencies: [
                "SIWAEntryPoint", "SIWAVaultRecords",
                "SIWAServer", "SIWAApplication", "SIWAHTTPServer", "SIWALifecycle", "SIWASystem",
                "SIWAWiring",
            ],
            swiftSettings: safe),
        .target(
            name: "SIWAConformance",
            dependencies: ["SIWAEmulator", "SIWAJOSE", "SIWALifecycle", "SIWACrypto"],
            swiftSettings: safe),
        .executableTarget(
            name: "siwa-emulator",
            dependencies: [
                "SIWAConformance",
                "SIWAEmulatorServer", "SIWAHTTPServer", "SIWACurlTransport", "SIWAEmulator",
                "SIWACommandTable", "SIWAEntryPoint",
                "SIWASystem", "SIWAJOSE", "SIWALifecycle", "SIWACrypto",
            ],
            swiftSettings: safe),

        .target(
            name: "SIWATestSupport",
            dependencies: ["SIWAVaultRecords", "SIWAJOSE", "SIWALifecycle", "SIWACrypto"],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "SIWACommandTableTests", dependencies: ["SIWACommandTable", "SIWATestSupport"],
            exclude: ["Snapshots"], swiftSettings: strict),
        .testTarget(
            name: "SIWAEmulatorTests",
            dependencies: [
                "SIWAEmulator", "SIWAJOSE", "SIWALifecycle", "SIWACrypto",
                "SIWATestSupport",
            ],
            swiftSettings: strict),
        // What docs/testing-your-app.md shows.
        .testTarget(
            name: "FixtureTests", dependencies: ["SignInWithApple", "SignInWithAppleEmulator"],
            path: "Tests/Clients/fixtures",
            exclude: ["go", "node", "pytest", "check.py", "update.py"],
            swiftSettings: strict),
        .testTarget(
            name: "SIWACurlTransportTests",
            dependencies: [
                "SIWACurlTransport", "SIWASystem", "SIWALifecycle", "SIWACrypto", "SIWATestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SIWAEmulatorServerTests",
            dependencies: [
                "SIWAEmulatorServer", "SIWAHTTPServer", "SIWAEmulator", "SIWACommandTable",
                "SIWAJOSE",
                "SIWALifecycle",
                "SIWACrypto",
                "SIWATestSupport", "siwa-emulator", "siwa",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HostileServerTests",
            dependencies: [
                "siwa", "siwa-emulator", "siwa-server", "SIWASystem", "SIWAJOSE",
                "SIWALifecycle",
                "SIWACrypto",
                "SIWATestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SIWAConformanceTests",
            dependencies: [
                "SIWAConformance", "SIWAEmulator", "SIWAJOSE", "SIWALifecycle", "SIWATestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SiwaTests",
            dependencies: [
                "siwa", "siwa-emulator", "siwa-server", "SIWACurlTransport", "SIWADatabases",
                "SIWAVaultRecords",
                "SIWAJOSE",
                "SIWALifecycle", "SIWAServerRecords", "SIWACrypto", "SIWATestSupport",
            ], swiftSettings: strict),
        .testTarget(
            name: "SIWACLITests",
            dependencies: [
                "SIWAApplication", "SIWACLI", "SIWAServer", "SIWACommandTable", "SIWASystem",
                "SIWAJOSE",
                "SIWALifecycle", "SIWAVaultRecords", "SIWACrypto", "SIWAEmulator",
                "SIWATestSupport",
            ], exclude: ["Scenarios"], swiftSettings: strict),
        .testTarget(
            name: "SIWACryptoTests",
            dependencies: ["SIWACrypto", "SIWACOpenSSL", "SIWATestSupport"],
            exclude: ["Vectors"], swiftSettings: strict, linkerSettings: [.linkedLibrary("crypto")]),
        .testTarget(
            name: "SignInWithAppleTests",
            dependencies: [
                "SIWAJOSE", "SIWALifecycle", "SIWAVaultRecords", "SIWADiagnosis", "SIWACrypto",
                "SIWATestSupport",
            ],
            exclude: ["Vectors"], swiftSettings: strict),
        .testTarget(
            name: "SIWAVaultRecordsTests",
            dependencies: [
                "SIWADatabases", "SIWAVaultRecords", "SIWAServerRecords", "SIWACSQLite", "SIWAJOSE",
                "SIWALifecycle", "SIWACrypto",
                "SIWATestSupport",
            ], swiftSettings: strict),
        .testTarget(
            name: "SIWAServerRecordsTests",
            dependencies: [
                "SIWAServerRecords", "SIWAJOSE", "SIWALifecycle", "SIWAVaultRecords", "SIWACrypto",
                "SIWATestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SIWAServerTests",
            dependencies: [
                "SIWASystem",
                "SIWAServer", "SIWAEmulator", "SIWACurlTransport", "SIWAHTTPServer", "SIWAJOSE",
                "SIWALifecycle", "SIWACommandTable",
                "SIWAServerRecords", "SIWAApplication", "SIWACrypto", "SIWATestSupport",
                "SIWADatabases", "SIWAVaultRecords",
            ],
            swiftSettings: strict),
        .target(
            name: "SIWAFuzzTargets",
            dependencies: [
                "SIWAApplication", "SIWACLI", "SIWACommandTable", "SIWASystem", "SIWAJOSE",
                "SIWALifecycle", "SIWAVaultRecords", "SIWADiagnosis",
                "SIWACrypto", "SIWAServerRecords", "SIWADatabases",
            ], path: "Tests/Fuzz/Targets", swiftSettings: safe),
        .testTarget(
            name: "FuzzTests", dependencies: ["SIWAFuzzTargets"], path: "Tests/Fuzz/Tests",
            swiftSettings: strict),
        // The products, as other packages use them.
        .testTarget(
            name: "LibraryTests",
            dependencies: [
                "SIWACrypto",
                "SignInWithApple", "SignInWithAppleCurl", "SignInWithAppleVault",
                "SignInWithAppleEmulator", "SIWAEmulator", "SIWAEmulatorServer", "SIWAHTTPServer",
                "SIWALifecycle",
                "SIWATestSupport", "SIWADatabases", "SIWAVaultRecords",
            ], exclude: ["Documented"], swiftSettings: strict),
        .testTarget(
            name: "SIWASystemTests", dependencies: ["SIWASystem", "SIWACrypto", "SIWATestSupport"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// Built by `make fuzz` alone: only libFuzzer has a `main` for it (docs/testing.md).
if Context.environment["SIWA_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "siwa-fuzz", dependencies: ["SIWAFuzzTargets"], path: "Tests/Fuzz/Harness",
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
            name: "siwa-bench",
            dependencies: [
                "SIWAJOSE", "SIWALifecycle", "SIWACrypto", "SIWADatabases", "SIWAVaultRecords",
                "SIWASystem", "SignInWithApple",
            ],
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
