internal import SignInWithApple

/// What a client asks for when it sends a person to `/auth/authorize`, checked against
/// Apple's rules.
struct AuthorizationRequest {
    typealias ResponseType = SignInWithApple.AuthorizationRequest.ResponseType
    typealias ResponseMode = SignInWithApple.AuthorizationRequest.ResponseMode
    typealias Scope = SignInWithApple.AuthorizationRequest.Scope

    let client: EmulatedClient
    let redirectURI: String
    let responseType: ResponseType
    let mode: ResponseMode
    let scopes: Set<Scope>
    let challenge: PKCEChallenge?
    let nonce: String?
    let state: String?

    /// - Throws: ``Refusal``. The client and its address come first: until both are known
    ///   nobody can be sent anywhere.
    init(
        _ form: ReceivedForm, in configuration: EmulatorConfiguration, _ switches: Switches
    ) throws(Refusal) {
        try form.refuseRepetition()
        client = try form.client(of: configuration)
        let address = form["redirect_uri"]
        try RedirectRules(allowsLoopback: switches.allowsLoopbackRedirect)
            .check(address, of: client)
        redirectURI = address ?? ""
        form.trail.passed("client_id", "\(client.clientID), registered")
        form.trail.passed("redirect_uri", "registered for \(client.clientID)")
        responseType = try form.responseType()
        scopes = try form.scopes()
        mode = try form.mode(for: responseType, scopes)
        challenge = try form.challenge()
        form.trail.passed("response_type", responseType.rawValue)
        form.trail.passed("response_mode", mode.rawValue)
        nonce = form["nonce"]
        state = form["state"]
    }
}

extension ReceivedForm {
    fileprivate func client(
        of configuration: EmulatorConfiguration
    ) throws(Refusal) -> EmulatedClient {
        guard let client = configuration.client(try required("client_id")) else {
            throw Refusal(
                .invalidClient, check: "client_id",
                because: "no client of team \(configuration.team.teamID)"
            )
        }
        return client
    }

    fileprivate func responseType() throws(Refusal) -> AuthorizationRequest.ResponseType {
        let text = try required("response_type")
        return try word(text, of: "response_type")
    }

    fileprivate func scopes() throws(Refusal) -> Set<AuthorizationRequest.Scope> {
        var scopes: Set<AuthorizationRequest.Scope> = []
        for text in (self["scope"] ?? "").split(separator: " ") {
            scopes.insert(try word(String(text), of: "scope", or: .invalidScope))
        }
        return scopes
    }

    /// Without one: the mode that OAuth 2.0 Multiple Response Types §3 has for the type.
    fileprivate func mode(
        for type: AuthorizationRequest.ResponseType, _ scopes: Set<AuthorizationRequest.Scope>
    ) throws(Refusal) -> AuthorizationRequest.ResponseMode {
        let mode: AuthorizationRequest.ResponseMode =
            if let text = self["response_mode"] {
                try word(text, of: "response_mode")
            } else {
                type == .code ? .query : .fragment
            }
        guard scopes.isDisjoint(with: [.name, .email]) || mode == .formPost else {
            throw Refusal(
                .invalidRequest, saying: Refusal.mustBeFormPost,
                check: "response_mode",
                because: "must be form_post with name or email, is \(mode.rawValue)")
        }
        guard type == .code || mode != .query else {
            throw Refusal(
                .invalidRequest,
                check: "response_mode",
                because: "must be fragment or form_post with id_token, is query")
        }
        return mode
    }

    fileprivate func challenge() throws(Refusal) -> PKCEChallenge? {
        let method: PKCEChallenge.Method? =
            if let text = self["code_challenge_method"] {
                try word(text, of: "code_challenge_method")
            } else {
                nil
            }
        guard let text = self["code_challenge"] else {
            guard method == nil else {
                throw Refusal(
                    .invalidRequest, check: "code_challenge",
                    because: "missing, though there is a method")
            }
            return nil
        }
        return PKCEChallenge(text: text, method: method ?? .plain)
    }

    private func word<Word: RawRepresentable<String> & CaseIterable>(
        _ text: String, of name: String, or code: Refusal.Code = .invalidRequest
    ) throws(Refusal) -> Word {
        guard let word = Word.allCases.first(where: { $0.rawValue.isExactly(text) }) else {
            let known = Word.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw Refusal(code, check: "\(name)", because: "'\(text.clipped)' is none of \(known)")
        }
        return word
    }
}
