import Foundation
import SIWATestSupport
import SignInWithApple
import SignInWithAppleEmulator
import Testing

/// Sign-ins on the web.
@Suite struct WebSignInTests {
    private static let redirectURI = "https://example.com/apple"

    @Test func `a user who signs in on the web is the user of the app`() async throws {
        let apple = try await InProcessApple()
        let web = try apple.client.client(for: "com.example.web")
        let begun = try WebSignIn(redirectURI: Self.redirectURI, scopes: [.name, .email])
        let kept = try JSONDecoder().decode(
            WebSignIn.self, from: try JSONEncoder().encode(begun))
        let form = try await apple.signIn(at: try web.authorizationURL(for: begun))
        let callback = try WebCallback(form: form)
        #expect(callback.user?.givenName == "Alice" && callback.user?.familyName == "Archer")
        let signIn = try await web.exchange(callback, of: kept)
        #expect(signIn.claims.clientID == "com.example.web" && signIn.refreshToken != nil)
        #expect(signIn.claims.nonce == begun.nonce)
        let native = try await apple.client.exchange(try await apple.signIn().code)
        #expect(native.userID == signIn.userID && native.claims.clientID == "com.example.app")
        // The identity token of either is accepted, and says which client it is for.
        let token = try #require(signIn.tokens.identityToken)
        let claims = try await apple.client.verify(token)
        #expect(try apple.client.client(for: claims.clientID).clientID == "com.example.web")
    }

    @Test func `a later sign-in on the web has no name`() async throws {
        let apple = try await InProcessApple()
        let web = try apple.client.client(for: "com.example.web")
        for isFirst in [true, false] {
            let begun = try WebSignIn(redirectURI: Self.redirectURI, scopes: [.name, .email])
            let form = try await apple.signIn(
                at: try web.authorizationURL(for: begun), isHidingEmail: true)
            let callback = try WebCallback(form: form)
            #expect((callback.user != nil) == isFirst)
            let signIn = try await web.exchange(callback, of: begun)
            #expect(signIn.claims.isPrivateEmail)
        }
    }

    @Test func `a user who cancels is not signed in`() async throws {
        let apple = try await InProcessApple()
        let web = try apple.client.client(for: "com.example.web")
        let begun = try WebSignIn(redirectURI: Self.redirectURI)
        let form = try await apple.signIn(nil, at: try web.authorizationURL(for: begun))
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try await web.exchange(try WebCallback(form: form), of: begun)
        }
        #expect(failure.kind == .signInRefused)
        #expect(failure.appleError == "user_cancelled_authorize" && !failure.codeMayBeSpent)
    }

    @Test func `the answer to another browser's sign-in is not exchanged`() async throws {
        let apple = try await InProcessApple()
        let web = try apple.client.client(for: "com.example.web")
        let begun = try WebSignIn(redirectURI: Self.redirectURI)
        let form = try await apple.signIn(at: try web.authorizationURL(for: begun))
        let other = try WebSignIn(redirectURI: Self.redirectURI)
        for callback in [
            try WebCallback(form: form), WebCallback(code: try WebCallback(form: form).code),
        ] {
            let failure = try await thrownError { () async throws(SignInWithAppleError) in
                try await web.exchange(callback, of: other)
            }
            #expect(failure.kind == .stateMismatch && !failure.codeMayBeSpent)
        }
        #expect(try await !apple.requestedPaths().contains("/auth/token"))
        #expect(try await web.exchange(try WebCallback(form: form), of: begun).refreshToken != nil)
    }

    @Test(arguments: [
        ("", "the form has neither code nor error"),
        ("state=s", "the form has neither code nor error"),
        ("code=a&code=b", "the form has a parameter twice"),
        ("code=%zz", "the form is not percent-encoded UTF-8"),
        ("code=%ff", "the form is not percent-encoded UTF-8"),
        ("code=%f", "the form is not percent-encoded UTF-8"),
        (String(repeating: "a", count: 65_537), "the form is longer than 64 KiB"),
    ])
    func `a form that Apple does not post is refused`(_ form: String, _ message: String)
        async throws
    {
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try WebCallback(form: form)
        }
        #expect(failure.kind == .invalidArgument && failure.message == message)
    }

    @Test(arguments: [
        "http://example.com/apple", "https://192.0.2.1/", "https://localhost/", "https://a.b/#c",
        "com.example:/", "",
    ])
    func `a redirect URI that Apple does not accept is refused`(_ redirectURI: String) async throws
    {
        let apple = try await InProcessApple()
        let failure = try await thrownError { () async throws(SignInWithAppleError) in
            try apple.client.authorizationURL(for: try WebSignIn(redirectURI: redirectURI))
        }
        #expect(failure.kind == .invalidArgument)
    }

    @Test func `a callback shows no code`() throws {
        let callback = try WebCallback(form: "code=c0ffee&id_token=a.b.c&state=s")
        var dumped = ""
        dump(callback, to: &dumped)
        for text in ["\(callback)", String(reflecting: callback), dumped] {
            #expect(!text.contains("c0ffee") && !text.contains("a.b.c"))
        }
    }
}
