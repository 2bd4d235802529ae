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
            ])
    ]
)
