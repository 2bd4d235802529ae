import SignInWithApple
import SignInWithAppleCurl
import SignInWithAppleVault

/// What a server does with Sign in with Apple: users sign in, and delete their accounts.
actor SignInService {
    private let apple: SignInWithAppleClient
    private let vault: TokenVault
    /// Sign-ins whose refresh tokens are not stored yet. Each is the only copy of its token, because
    /// the code is spent.
    private var unstored: [SignIn] = []

    init(apple: SignInWithAppleClient, vault: TokenVault) {
        (self.apple, self.vault) = (apple, vault)
    }

    /// Signs a user in with the authorization code that the app sent, and stores the refresh token.
    ///
    /// - Returns: the user's id.
    func signIn(code: String, nonce: String?) async throws -> String {
        do throws(SignInWithAppleError) {
            return try await apple.exchange(code, storingIn: vault, nonce: nonce).userID
        } catch {
            // The only copy of a token that could not be stored: the code is spent.
            if let signIn = error.signIn {
                unstored.append(signIn)
                return signIn.userID
            }
            // Only this error shows that the tokens belong to another sign-in.
            if error.kind == .invalidIdentityToken, let token = error.tokens?.refreshToken {
                await discard(token)
            }
            throw error
        }
    }

    /// Stores the tokens that could not be stored before, such as while the database was locked.
    ///
    /// - Returns: whether all tokens are stored.
    @discardableResult
    func storePending() async -> Bool {
        let pending = unstored.filter { $0.refreshToken != nil }
        unstored = []
        for signIn in pending {
            do {
                try await vault.store(signIn)
            } catch {
                print("not stored yet: \(error)")
                unstored.append(signIn)
            }
        }
        return unstored.isEmpty
    }

    /// Revokes all tokens of a user, as App Store review requires. Throws unless every token is
    /// proven dead: then call it again later.
    func deleteAccount(of userID: String) async throws {
        // A token that is not in the vault would survive.
        guard await storePending() else { throw Unfinished() }
        for revocation in try await vault.revoke(userID: userID, with: apple).results {
            print("revoked: \(revocation.evidence?.rawValue ?? "no evidence")")
        }
        for clientID in apple.clientIDs {
            try await vault.remove(userID: userID, clientID: clientID)
        }
    }

    private func discard(_ token: String) async {
        do {
            try await apple.revoke(token)
        } catch {
            print("a token of an invalid sign-in was not revoked: \(error)")
        }
    }
}

/// The account cannot be deleted yet, because some tokens are not stored.
struct Unfinished: Error {}
