import Foundation
import SignInWithApple
import SignInWithAppleCurl
import SignInWithAppleVault

/// Serves on a loopback address, whose port it prints.
@main enum Main {
    private static let settings = ProcessInfo.processInfo.environment

    static func main() async throws {
        let service = try SignInService(
            apple: try client(), webClientID: settings["WEB_CLIENT_ID", default: ""],
            redirectURI: settings["REDIRECT_URI", default: ""], vault: try await vault())
        let listener = try HTTPListener(port: UInt16(settings["PORT", default: "0"]) ?? 0)
        let routes = Routes(service)
        listener.serve { await routes.answer($0) }
        print("http://127.0.0.1:\(listener.port)")
        fflush(nil)
        while true {
            try await Task.sleep(for: .seconds(1))
            await service.storePending()
            fflush(nil)
        }
    }

    private static func client() throws -> SignInWithAppleClient {
        let keyFile = settings["KEY_FILE", default: "AuthKey.p8"]
        return try SignInWithAppleClient(
            teamID: settings["TEAM_ID", default: ""], clientID: settings["CLIENT_ID", default: ""],
            otherClientIDs: [settings["WEB_CLIENT_ID", default: ""]],
            key: ClientSecretKey(
                pem: String(contentsOfFile: keyFile, encoding: .utf8),
                id: settings["KEY_ID", default: ""]),
            transport: try CurlTransport(authorityFile: settings["CA_FILE"]),
            baseURL: settings["BASE_URL", default: "https://appleid.apple.com"])
    }

    /// Opens the vault, or makes it. The key belongs into a place that others cannot read.
    private static func vault() async throws -> TokenVault {
        let path = settings["VAULT", default: "vault.db"]
        if let keys = try? String(contentsOfFile: path + ".key", encoding: .utf8) {
            return try await TokenVault(url: "sqlite:" + path, keys: keys)
        }
        let keys = try TokenVault.newKeys()
        _ = FileManager.default.createFile(
            atPath: path + ".key", contents: Data(keys.utf8), attributes: [.posixPermissions: 0o600]
        )
        try await TokenVault.create(url: "sqlite:" + path, keys: keys)
        return try await TokenVault(url: "sqlite:" + path, keys: keys)
    }
}
