import SignInWithApple

/// The service's pages and calls. A service of your own has a framework for what is in this file and
/// in HTTPListener.swift.
actor Routes {
    private let service: SignInService
    /// The users of the browsers and apps that have signed in, by the cookie `session`.
    private var sessions: [String: String] = [:]
    /// The sign-ins on the web that have begun, by the cookie `sign_in`.
    private var begun: [String: WebSignIn] = [:]

    init(_ service: SignInService) { self.service = service }

    func answer(_ request: HTTPRequest) async -> HTTPAnswer {
        do {
            switch "\(request.method) \(request.path)" {
            case "POST /app/sign-in": return try await signIn(request)
            case "GET /web/sign-in": return try await beginOnTheWeb()
            case "POST /callback": return try await signInOnTheWeb(request)
            case "POST /notifications":
                try await service.receive(notification: request.body)
                return HTTPAnswer(200)
            case "GET /user": return await user(request)
            case "POST /account/delete": return try await deleteAccount(request)
            default: return HTTPAnswer(404)
            }
        } catch {
            return HTTPAnswer(error)
        }
    }

    /// The app posts `code=…` in the form of an HTML page.
    private func signIn(_ request: HTTPRequest) async throws -> HTTPAnswer {
        let posted = try WebCallback(form: request.body)
        let userID = try await service.signIn(code: posted.code ?? "", nonce: nil)
        return signedIn(userID)
    }

    private func beginOnTheWeb() async throws -> HTTPAnswer {
        let (signIn, url) = try await service.beginOnTheWeb()
        let id = randomID()
        begun[id] = signIn
        // Apple's page posts the answer from another site, so the cookie must come with it.
        return HTTPAnswer(
            302, headers: ["Location: \(url)", Self.cookie("sign_in", id, sameSite: "None")])
    }

    private func signInOnTheWeb(_ request: HTTPRequest) async throws -> HTTPAnswer {
        // Removed whatever happens: an answer is used once.
        guard let signIn = request.cookie("sign_in").flatMap({ begun.removeValue(forKey: $0) })
        else { return HTTPAnswer(400, "this browser began no sign-in\n") }
        return signedIn(try await service.signInOnTheWeb(form: request.body, begun: signIn))
    }

    private func signedIn(_ userID: String) -> HTTPAnswer {
        let id = randomID()
        sessions[id] = userID
        return HTTPAnswer(200, "signed in: \(userID)\n", headers: [Self.cookie("session", id)])
    }

    private func user(_ request: HTTPRequest) async -> HTTPAnswer {
        guard let userID = await userID(request) else { return HTTPAnswer(401, "nobody\n") }
        // A user id of Apple's is digits, hexadecimal digits and full stops: nothing to escape.
        return HTTPAnswer(200, "{\"id\": \"\(userID)\"}\n")
    }

    private func deleteAccount(_ request: HTTPRequest) async throws -> HTTPAnswer {
        guard let userID = await userID(request) else { return HTTPAnswer(401, "nobody\n") }
        try await service.deleteAccount(of: userID)
        return HTTPAnswer(200, "deleted: \(userID)\n")
    }

    private func userID(_ request: HTTPRequest) async -> String? {
        guard let userID = request.cookie("session").flatMap({ sessions[$0] }) else { return nil }
        return await service.signedOut.contains(userID) ? nil : userID
    }

    private func randomID() -> String {
        // The system's generator is a cryptographic one.
        String(UInt64.random(in: .min ... .max), radix: 16)
            + String(UInt64.random(in: .min ... .max), radix: 16)
    }

    private static func cookie(
        _ name: String, _ value: String, sameSite: String = "Lax"
    ) -> String {
        "Set-Cookie: \(name)=\(value); Path=/; HttpOnly; Secure; SameSite=\(sameSite)"
    }
}

extension HTTPAnswer {
    /// What an error means to whoever asked.
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as SignInWithAppleError where error.kind == .invalidIdentityToken:
            self.init(400, "refused: \(error)\n")
        case let error as SignInWithAppleError where error.codeMayBeSpent:
            self.init(502, "please sign in again: \(error)\n")
        case let error as SignInWithAppleError where !error.isRetryable:
            self.init(400, "refused: \(error)\n")
        default: self.init(503, "please try again later: \(error)\n")
        }
    }
}
