internal import SIWACrypto
internal import SIWAEmulator
internal import SIWAJOSE
internal import SIWALifecycle
internal import SignInWithApple

/// What an app gets from Apple's framework when a user signs in, and sends to its server.
public struct IssuedSignIn: Hashable, Sendable {
    /// The authorization code: single use, five minutes.
    public let code: String
    /// The identity token.
    public let identityToken: String

    /// Creates a sign-in, for tests.
    public init(code: String, identityToken: String) {
        (self.code, self.identityToken) = (code, identityToken)
    }
}

extension InProcessApple {
    /// Signs a user in in an app.
    ///
    /// - Parameters:
    ///   - user: the name of the user.
    ///   - clientID: the client; nil for that of ``client``.
    ///   - nonce: the nonce of the sign-in request.
    /// - Returns: the authorization code and the identity token.
    /// - Throws: ``EmulatorError`` if the user or the client does not exist.
    public func signIn(
        _ user: String = "alice", to clientID: String? = nil, nonce: String? = nil
    ) async throws(EmulatorError) -> IssuedSignIn {
        var members = [
            JSON.Member("client_id", .string(clientID ?? client.clientID)),
            JSON.Member("user", .string(user)),
        ]
        if let nonce { members.append(JSON.Member("nonce", .string(nonce))) }
        let answer = try await control("codes", .object(members))
        return IssuedSignIn(
            code: answer["code"]?.string ?? "", identityToken: answer["id_token"]?.string ?? "")
    }

    /// Signs a user in on the web, as a browser does that was sent to Apple's page.
    ///
    /// - Parameters:
    ///   - user: the name of the user; nil cancels.
    ///   - authorizationURL: where your server sent the browser: see
    ///     `SignInWithAppleClient.authorizationURL(for:)`.
    ///   - isHidingEmail: whether the user hides the address, at the first consent.
    /// - Returns: the form that the browser posts to the redirect URI, for `WebCallback(form:)`.
    /// - Throws: ``EmulatorError`` if Apple's page refuses the request.
    public func signIn(
        _ user: String? = "alice", at authorizationURL: String, isHidingEmail: Bool = false
    ) async throws(EmulatorError) -> String {
        let page = try await page(TransportRequest(url: authorizationURL))
        guard let transaction = page.hiddenInputs.first(where: { $0.name == "transaction" }) else {
            throw EmulatorError("Apple's page refuses the request: \(page.text.clipped(to: 200))")
        }
        let parameters = [
            ("transaction", Form.Value.plain(transaction.value)),
            ("action", .plain(user == nil ? "cancel" : "continue")),
            ("user", .plain(user ?? "")), ("email", .plain(isHidingEmail ? "hide" : "share")),
        ]
        let answer = try await self.page(
            TransportRequest(
                method: "POST", url: "https://appleid.apple.com/auth/authorize/consent",
                headers: [("Content-Type", Form.contentType)],
                body: Form(parameters).encoded().revealed()))
        let posted = answer.hiddenInputs
        guard !posted.isEmpty else {
            throw EmulatorError("Apple's page refuses the user: \(answer.text.clipped(to: 200))")
        }
        return String(
            decoding: Form(posted.map { ($0.name, .plain($0.value)) }).encoded().revealed(),
            as: UTF8.self)
    }

    private func page(_ request: TransportRequest) async throws(EmulatorError) -> EmulatedPage {
        do {
            let response = try await transport.send(request)
            return EmulatedPage(text: String(decoding: response.body, as: UTF8.self))
        } catch {
            throw EmulatorError("\(error)")
        }
    }
}

/// A page of the emulator, as a browser reads it.
private struct EmulatedPage {
    let text: String

    /// The hidden inputs of its form.
    var hiddenInputs: [(name: String, value: String)] {
        text.pieces(after: #"<input type="hidden" name=""#).compactMap { piece in
            guard let quote = piece.firstIndex(of: "\""),
                let value = String(piece[quote...]).pieces(after: #"" value=""#).first,
                let end = value.firstIndex(of: "\"")
            else { return nil }
            return (String(piece[..<quote]), String(value[..<end]).unescapedFromHTML)
        }
    }
}

extension String {
    /// What follows each occurrence of `mark`.
    fileprivate func pieces(after mark: String) -> [String] {
        var pieces: [String] = []
        var rest = utf8[...]
        let mark = Array(mark.utf8)
        while let byte = rest.first {
            if byte == mark[0], rest.starts(with: mark) {
                rest = rest.dropFirst(mark.count)
                pieces.append(String(decoding: rest, as: UTF8.self))
            } else {
                rest = rest.dropFirst()
            }
        }
        return pieces
    }

    fileprivate var unescapedFromHTML: String {
        let names = ["&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&amp;": "&"]
        var text = ""
        var rest = self[...]
        while let character = rest.first {
            let name = character == "&" ? names.keys.first { rest.hasPrefix($0) } : nil
            text += name.flatMap { names[$0] } ?? String(character)
            rest = rest.dropFirst(name?.count ?? 1)
        }
        return text
    }
}
