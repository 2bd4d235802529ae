internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// A sign-in on the web that was begun: keep it in the session of the browser until Apple's answer
/// arrives.
///
/// ```swift
/// let begun = try WebSignIn(redirectURI: "https://example.com/apple", scopes: [.name, .email])
/// session.signIn = begun                                    // Codable
/// redirect(to: try apple.authorizationURL(for: begun))
/// // Later, when the browser posts Apple's answer:
/// let signIn = try await apple.exchange(try WebCallback(form: body), of: begun)
/// ```
public struct WebSignIn: Hashable, Codable, Sendable {
    /// The data of the user that is asked for; Apple sends it at the first consent only.
    public struct Scope: RawRepresentable, Hashable, Codable, Sendable {
        /// Apple's name.
        public let rawValue: String

        /// Creates a scope from any name; Apple knows two.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The user's name.
        public static let name = Self(rawValue: "name")
        /// The user's address, or the relay address that hides it.
        public static let email = Self(rawValue: "email")
    }

    /// Where Apple sends the browser afterwards.
    public let redirectURI: String
    /// The data that is asked for.
    public let scopes: Set<Scope>
    /// Returned unchanged by Apple: shows that an answer belongs to this browser.
    public let state: String
    /// Returned in the identity token: shows that it belongs to this sign-in.
    public let nonce: String

    /// Begins a sign-in, with a new state and nonce.
    ///
    /// - Parameters:
    ///   - redirectURI: one of the redirect URIs that are registered for the Services ID: `https`,
    ///     and no address of a machine.
    ///   - scopes: the data of the user that is asked for.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidArgument`.
    public init(
        redirectURI: String, scopes: Set<Scope> = []
    ) throws(SignInWithAppleError) {
        self.init(
            redirectURI: redirectURI, scopes: scopes, state: try Self.random(),
            nonce: try Self.random())
    }

    /// A sign-in with a state and a nonce of one's own.
    public init(redirectURI: String, scopes: Set<Scope> = [], state: String, nonce: String) {
        (self.redirectURI, self.scopes) = (redirectURI, scopes)
        (self.state, self.nonce) = (state, nonce)
    }

    private static func random() throws(SignInWithAppleError) -> String {
        do throws(OpenSSLError) {
            return Base64URL.encode(try Random.bytes(32))
        } catch {
            throw SignInWithAppleError(
                .invalidConfiguration, "OpenSSL has no random numbers: \(error)")
        }
    }
}

/// What the browser posts to the redirect URI after a sign-in on the web (Apple: "Configuring your
/// webpage for Sign in with Apple").
public struct WebCallback: Sendable, Hashable {
    /// The user's name and address, at the first consent only. They are not signed: anybody can
    /// post another name.
    public struct User: Hashable, Codable, Sendable {
        /// The given name; nil if absent.
        public let givenName: String?
        /// The family name; nil if absent.
        public let familyName: String?
        /// The address; nil if absent. Trust the claim of the identity token instead.
        public let email: String?

        /// Creates a user, for tests.
        public init(givenName: String?, familyName: String?, email: String?) {
            (self.givenName, self.familyName, self.email) = (givenName, familyName, email)
        }
    }

    /// The authorization code; nil after a refusal.
    public let code: String?
    /// The identity token, if it was asked for; nil otherwise.
    public let identityToken: String?
    /// The state of the request; nil if it had none.
    public let state: String?
    /// The user, at the first consent only.
    public let user: User?
    /// Apple's error, such as `user_cancelled_authorize`; nil after a sign-in.
    public let error: String?

    /// Creates an answer, for tests.
    public init(
        code: String? = nil, identityToken: String? = nil, state: String? = nil,
        user: User? = nil, error: String? = nil
    ) {
        (self.code, self.identityToken, self.state) = (code, identityToken, state)
        (self.user, self.error) = (user, error)
    }

    /// Reads a posted form, or a query.
    ///
    /// - Parameter form: `application/x-www-form-urlencoded`.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidArgument` if it is no form, has a
    ///   parameter twice, or neither code nor error.
    public init(form: some Sequence<UInt8>) throws(SignInWithAppleError) {
        let parameters: [String: String]
        do throws(FormError) {
            parameters = try Form.decoded(Array(form))
        } catch {
            throw SignInWithAppleError(.invalidArgument, "the form \(error)")
        }
        self.init(
            code: parameters["code"], identityToken: parameters["id_token"],
            state: parameters["state"], user: parameters["user"].flatMap(User.init(json:)),
            error: parameters["error"])
        guard code != nil || error != nil else {
            throw SignInWithAppleError(.invalidArgument, "the form has neither code nor error")
        }
    }

    /// Reads a posted form, or a query; see ``init(form:)-(Sequence<UInt8>)``.
    public init(form: String) throws(SignInWithAppleError) { try self.init(form: form.utf8) }
}

extension WebCallback: CustomStringConvertible, CustomReflectable {
    /// What it has, never the code.
    public var description: String { error.map { "error \($0)" } ?? "a code" }

    /// Keeps `dump` from showing the code.
    public var customMirror: Mirror { Mirror(self, children: ["error": error as Any]) }
}

extension WebCallback.User {
    /// Apple's `{"name": {"firstName": …, "lastName": …}, "email": …}`; nil for anything else.
    fileprivate init?(json: String) {
        guard let user = try? JSON(text: json) else { return nil }
        self.init(
            givenName: user["name"]?["firstName"]?.string,
            familyName: user["name"]?["lastName"]?.string, email: user["email"]?.string)
    }
}

extension SignInWithAppleClient {
    /// The URL to which a web page sends the browser for a sign-in (Apple: "Request an
    /// authorization to the Sign in with Apple server"). Apple answers with a posted form.
    ///
    /// This client must be that of a Services ID: an App ID has no redirect URI.
    ///
    /// - Returns: the URL. It contains state and nonce.
    /// - Throws: ``SignInWithAppleError`` of kind `invalidArgument` for a redirect URI that Apple
    ///   does not accept, or a scope that it does not know.
    public func authorizationURL(for signIn: WebSignIn) throws(SignInWithAppleError) -> String {
        let redirectURI: RedirectURI
        do throws(RedirectURIError) {
            redirectURI = try RedirectURI(validating: signIn.redirectURI)
        } catch {
            throw SignInWithAppleError(.invalidArgument, "the redirect URI \(error)")
        }
        var scopes: Set<AuthorizationRequest.Scope> = []
        for scope in signIn.scopes {
            guard let known = AuthorizationRequest.Scope(rawValue: scope.rawValue) else {
                throw SignInWithAppleError(
                    .invalidArgument, "Apple knows no scope '\(displayed(scope.rawValue))'")
            }
            scopes.insert(known)
        }
        do throws(AuthorizationRequestError) {
            return try AuthorizationRequest(
                clientID: id, redirectURI: redirectURI, responseMode: .formPost, scopes: scopes,
                state: SecretText(signIn.state), nonce: SecretText(signIn.nonce)
            ).url(at: shared.baseURL).revealed()
        } catch {
            throw SignInWithAppleError(.invalidArgument, error.description)
        }
    }

    /// Completes a sign-in on the web: compares the state, exchanges the code with the redirect URI
    /// of the sign-in, and compares the nonce.
    ///
    /// - Parameters:
    ///   - callback: what the browser posted.
    ///   - signIn: what was kept in the browser's session. Remove it there, whatever happens.
    ///   - timeout: see ``exchange(_:nonce:redirectURI:codeVerifier:timeout:)``.
    /// - Throws: ``SignInWithAppleError``, of kind `signInRefused` if the user cancelled or Apple
    ///   refused, and `stateMismatch` if the answer does not belong to this browser: nothing is
    ///   sent then. Otherwise as ``exchange(_:nonce:redirectURI:codeVerifier:timeout:)``.
    @discardableResult
    public func exchange(
        _ callback: WebCallback, of signIn: WebSignIn, timeout: Duration? = nil
    ) async throws(SignInWithAppleError) -> SignIn {
        try await exchange(
            try callback.code(of: signIn), nonce: signIn.nonce, redirectURI: signIn.redirectURI,
            timeout: timeout)
    }
}

extension WebCallback {
    /// The code, if the answer belongs to the browser of `signIn`.
    package func code(of signIn: WebSignIn) throws(SignInWithAppleError) -> String {
        guard state?.matches(signIn.state) == true else {
            throw SignInWithAppleError(
                .stateMismatch, "the answer's state is not that of this browser's sign-in")
        }
        if let error {
            var refused = SignInWithAppleError(
                .signInRefused, "the sign-in was refused: \(displayed(error))")
            refused.appleError = error
            throw refused
        }
        guard let code else {
            throw SignInWithAppleError(.invalidArgument, "the answer has no code")
        }
        return code
    }
}
