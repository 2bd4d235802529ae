import SignInWithApple
import SignInWithAppleVault

/// What a server does with Sign in with Apple: users sign in, in an app or on the web, Apple sends
/// notifications, and users delete their accounts. It knows nothing of HTTP.
actor SignInService {
    private let apple: SignInWithAppleClient
    private let web: SignInWithAppleClient
    private let vault: TokenVault
    private let redirectURI: String
    /// Sign-ins whose refresh tokens are not stored yet. Each is the only copy of its token, because
    /// the code is spent. A service with several replicas keeps them in a queue that survives it.
    private var unstored: [SignIn] = []
    /// Users whom Apple says are gone: their sessions end.
    private(set) var signedOut: Set<String> = []

    /// - Parameters:
    ///   - apple: the client of the app, with that of the website among its others.
    ///   - webClientID: the Services ID of the website.
    ///   - redirectURI: the redirect URI that is registered for it.
    init(
        apple: SignInWithAppleClient, webClientID: String, redirectURI: String, vault: TokenVault
    ) throws {
        self.apple = apple
        web = try apple.client(for: webClientID)
        (self.redirectURI, self.vault) = (redirectURI, vault)
    }

    /// Signs a user in with the authorization code that the app sent.
    ///
    /// - Returns: the user's id.
    func signIn(code: String, nonce: String?) async throws -> String {
        try await signingIn { () async throws(SignInWithAppleError) in
            try await apple.exchange(code, storingIn: vault, nonce: nonce)
        }
    }

    /// Begins a sign-in on the web: keep the value in the browser's session, and send the browser to
    /// the URL.
    func beginOnTheWeb() throws -> (begun: WebSignIn, url: String) {
        let begun = try WebSignIn(redirectURI: redirectURI, scopes: [.name, .email])
        return (begun, try web.authorizationURL(for: begun))
    }

    /// Completes a sign-in on the web.
    ///
    /// - Parameters:
    ///   - form: what the browser posted to the redirect URI.
    ///   - begun: what was kept in the browser's session.
    /// - Returns: the user's id.
    func signInOnTheWeb(form: String, begun: WebSignIn) async throws -> String {
        try await signingIn { () async throws(SignInWithAppleError) in
            try await web.exchange(try WebCallback(form: form), of: begun, storingIn: vault)
        }
    }

    private func signingIn(
        _ exchange: () async throws(SignInWithAppleError) -> StoredSignIn
    ) async throws -> String {
        do throws(SignInWithAppleError) {
            let userID = try await exchange().userID
            signedOut.remove(userID)
            return userID
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

    /// Takes a notification of Apple's. Throws unless it is stored: then Apple sends it again.
    func receive(notification body: String) async throws {
        let event = try await apple.notification(body)
        try await vault.apply(event, clientIDs: apple.clientIDs)
        if event.kind == .consentRevoked || event.kind == .accountDeleted {
            signedOut.insert(event.userID)
        }
        print("notification: \(event.kind.rawValue)")
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
        try await vault.remove(userID: userID)
        signedOut.insert(userID)
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
