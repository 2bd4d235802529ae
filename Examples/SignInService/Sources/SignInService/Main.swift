import Foundation
import SignInWithApple
import SignInWithAppleCurl
import SignInWithAppleVault

/// Reads authorization codes from standard input; signs each user in and deletes the account.
@main enum Main {
    private static let settings = ProcessInfo.processInfo.environment

    static func main() async throws {
        let service = SignInService(apple: try client(), vault: try await vault())
        while let code = readLine() {
            do {
                let userID = try await service.signIn(code: code, nonce: nil)
                print("signed in: \(userID)")
                try await service.deleteAccount(of: userID)
            } catch let error as SignInWithAppleError where !error.isRetryable {
                print(error.codeMayBeSpent ? "sign in again: \(error)" : "refused: \(error)")
            } catch {
                print("try again later: \(error)")
            }
        }
        while await !service.storePending() { try await Task.sleep(for: .seconds(1)) }
    }

    private static func client() throws -> SignInWithAppleClient {
        let keyFile = settings["KEY_FILE", default: "AuthKey.p8"]
        return try SignInWithAppleClient(
            teamID: settings["TEAM_ID", default: ""], clientID: settings["CLIENT_ID", default: ""],
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
