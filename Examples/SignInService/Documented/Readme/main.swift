// swift-format-ignore-file
import SignInWithApple
import SignInWithAppleCurl
import SignInWithAppleVault

let apple = try SignInWithAppleClient(
    teamID: "A1B2C3D4E5", clientID: "com.example.app", keyID: "K1L2M3N4P5",
    privateKey: pem, transport: try CurlTransport())
let vault = try await TokenVault(url: "sqlite:vault.db", keys: keys)

func signIn(code: String, nonce: String?) async throws -> String {
    let signIn: SignIn
    do {
        signIn = try await apple.exchange(code, nonce: nonce)   // sent once; the identity token is verified
    } catch where error.kind == .invalidIdentityToken {   // not this user's: revoke what Apple issued
        if let token = error.tokens?.refreshToken { try await apple.revoke(token) }
        throw error
    }
    do { try await vault.store(signIn) } catch { await storeLater(signIn) }   // the only copy: the code is spent
    return signIn.userID
}

func deleteAccount(of userID: String) async throws {
    try await vault.revoke(userID: userID, with: apple)   // throws unless refreshes prove it for every token of every client
    try await vault.remove(userID: userID, clientID: apple.clientID)
}
