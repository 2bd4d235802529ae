// swift-format-ignore-file
import SignInWithApple
import SignInWithAppleCurl
import SignInWithAppleVault

let apple = try SignInWithAppleClient(
    teamID: "A1B2C3D4E5", clientID: "com.example.app",
    key: ClientSecretKey(pem: pem, id: "K1L2M3N4P5"), transport: try CurlTransport())
let vault = try await TokenVault(url: "sqlite:vault.db", keys: keys)

func signIn(code: String, nonce: String?) async throws -> String {
    do {   // sent once; the identity token is verified; the refresh token is stored before anything else may fail
        return try await apple.exchange(code, storingIn: vault, nonce: nonce).userID
    } catch where error.kind == .notStored {   // error.signIn has the only copy: the code is spent
        if let signIn = error.signIn { await storeLater(signIn) }
        throw error
    } catch where error.kind == .invalidIdentityToken {   // not this user's: revoke what Apple issued
        if let token = error.tokens?.refreshToken { try await apple.revoke(token) }
        throw error
    }
}

func deleteAccount(of userID: String) async throws {
    try await vault.revoke(userID: userID, with: apple)   // throws unless refreshes prove it for every token of every client
    for clientID in apple.clientIDs { try await vault.remove(userID: userID, clientID: clientID) }
}
