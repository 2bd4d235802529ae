import SignInWithApple
import SignInWithAppleCurl
import SignInWithAppleVault

/// What a server does with Sign in with Apple: users sign in, and delete their accounts.
struct SignInService {
    let apple: SignInWithAppleClient
    let vault: TokenVault

    /// Signs a user in with the authorization code that the app sent, and stores the refresh token.
    ///
    /// - Returns: the user's id.
    func signIn(code: String, nonce: String?) async throws -> String {
        do {
            let signIn = try await apple.exchange(code, nonce: nonce)
            try await vault.store(signIn)
            return signIn.userID
        } catch let error as SignInWithAppleError {
            // The identity token is not this user's, but Apple issued tokens: revoke them.
            if let token = error.tokens?.refreshToken { try await apple.revoke(token) }
            throw error
        }
    }

    /// Revokes all tokens of a user, as App Store review requires.
    func deleteAccount(of userID: String) async throws {
        for revocation in try await vault.revoke(userID: userID, with: apple) {
            print("revoked: \(revocation.evidence?.rawValue ?? "no evidence")")
        }
        try await vault.remove(userID: userID, clientID: apple.clientID)
    }
}
