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
        // The code in the documentation, which must compile. SwiftPM would build a folder named
        // Snippets a second time, without the products it imports.
        .executableTarget(
            name: "Facade",
            dependencies: [
                .product(name: "SignInWithApple", package: "siwa"),
                .product(name: "SignInWithAppleCurl", package: "siwa"),
            ], path: "Documented/Facade"),
        .executableTarget(
            name: "Readme",
            dependencies: [
                .product(name: "SignInWithApple", package: "siwa"),
                .product(name: "SignInWithAppleCurl", package: "siwa"),
                .product(name: "SignInWithAppleVault", package: "siwa"),
            ], path: "Documented/Readme"),
    ]
)
