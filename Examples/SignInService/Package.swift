// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "SignInService",
    dependencies: [.package(name: "siwa", path: "../..")],
    targets: [
        .executableTarget(
            name: "SignInService",
            dependencies: [
                .product(name: "SignInWithApple", package: "siwa"),
                .product(name: "SignInWithAppleCurl", package: "siwa"),
                .product(name: "SignInWithAppleVault", package: "siwa"),
            ]),
        // The code in the documentation, which must compile.
        .executableTarget(
            name: "Facade",
            dependencies: [
                .product(name: "SignInWithApple", package: "siwa"),
                .product(name: "SignInWithAppleCurl", package: "siwa"),
            ], path: "Snippets/Facade"),
        .executableTarget(
            name: "Readme",
            dependencies: [
                .product(name: "SignInWithApple", package: "siwa"),
                .product(name: "SignInWithAppleCurl", package: "siwa"),
                .product(name: "SignInWithAppleVault", package: "siwa"),
            ], path: "Snippets/Readme"),
    ]
)
