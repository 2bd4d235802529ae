internal import SIWAJOSE
internal import SIWALifecycle

/// What a client asks for when it sends a person to `/auth/authorize`, checked against
/// Apple's rules.
struct ReceivedAuthorizationRequest {
    typealias ResponseType = SIWALifecycle.AuthorizationRequest.ResponseType
    typealias Scope = SIWALifecycle.AuthorizationRequest.Scope

    /// How the answer is returned.
    enum ResponseMode: String, CaseIterable {
        case query
        case fragment
        case formPost = "form_post"
        /// Sent to the script that opened the window. Undocumented, but used by Apple's own script.
        case webMessage = "web_message"
    }

    let client: EmulatedClient
    let redirectURI: String
    let responseType: ResponseType
    let mode: ResponseMode
    let scopes: Set<Scope>
    let challenge: PKCEChallenge?
    let nonce: String?
    let state: String?

    /// - Throws: ``Refusal``. The client and its address are checked first: the browser can be
    ///   redirected only when both are known.
    init(
        _ form: ReceivedForm, in configuration: EmulatorConfiguration, _ behaviors: Behaviors,
        _ examination: Examination
    ) throws(Refusal) {
        client = try form.client(of: configuration, behaviors)
        examination.passed("client_id", client.clientID.rawValue)
        let address = form["redirect_uri"]
        try RedirectRules(behaviors).check(address, of: client)
        redirectURI = address ?? ""
        examination.passed("redirect_uri", "'\(redirectURI.clipped)' is registered")
        responseType = try form.responseType()
        examination.passed("response_type", responseType.rawValue)
        scopes = try form.scopes(behaviors, examination)
        examination.passed("scope", scopes.map(\.rawValue).sorted().joined(separator: " "))
        mode = try form.mode(for: responseType, scopes, behaviors)
        examination.passed("response_mode", mode.rawValue)
        challenge = try form.challenge()
        if let challenge {
            examination.passed("code_challenge", "method \(challenge.method.rawValue)")
        }
        nonce = form["nonce"]
        state = form["state"]
    }
}

extension ReceivedForm {
    fileprivate func client(
        of configuration: EmulatorConfiguration, _ behaviors: Behaviors
    ) throws(Refusal) -> EmulatedClient {
        guard let client = configuration.client(try required("client_id")) else {
            throw Refusal(
                .invalidClient, saying: behaviors.authorizeTexts.invalidClient, in: "client_id",
                because: "no client of team \(configuration.team.teamID)")
        }
        guard client.kind == .web else {
            throw RedirectRules(behaviors).refusal(
                of: "client_id",
                because: "\(client.clientID) is an App ID; the web needs a Services ID",
                advising: """
                    Send the Services ID of the website: a client of kind "web" in emulator.json \
                    (with Apple: Identifiers, Services IDs, grouped with the app).
                    """)
        }
        return client
    }

    fileprivate func responseType() throws(Refusal) -> ReceivedAuthorizationRequest.ResponseType {
        let text = try required("response_type")
        return try word(text, of: "response_type")
    }

    fileprivate func scopes(
        _ behaviors: Behaviors, _ examination: Examination
    ) throws(Refusal) -> Set<ReceivedAuthorizationRequest.Scope> {
        try checkPlus(behaviors, examination)
        var scopes: Set<ReceivedAuthorizationRequest.Scope> = []
        for text in (self["scope"] ?? "").split(separator: " ") {
            guard behaviors.unknownScope != .ignored || isKnown(String(text)) else {
                examination.noted("scope", "'\(String(text).clipped)' is unknown and ignored")
                continue
            }
            let code: Refusal.Code =
                behaviors.unknownScope == .invalidRequest ? .invalidRequest : .invalidScope
            scopes.insert(try word(String(text), of: "scope", or: code))
        }
        return scopes
    }

    private func isKnown(_ scope: String) -> Bool {
        ReceivedAuthorizationRequest.Scope.allCases.contains { $0.rawValue.isExactly(scope) }
    }

    /// A `+` is a space in a form. A client that sent it in `scope` did not receive its users'
    /// names; Apple told the client that it is wrong there.
    private func checkPlus(_ behaviors: Behaviors, _ examination: Examination) throws(Refusal) {
        guard hasPlus(in: "scope") else { return }
        guard behaviors.scopePlus == .accepted else {
            throw Refusal(
                .invalidScope, in: "scope", because: "a literal '+' between scopes, must be %20")
        }
        examination.noted(
            "scope", "a literal '+' between scopes: send %20, or Apple may leave the name out")
    }

    /// The mode; without a `response_mode`, the default of OAuth 2.0 Multiple Response Types §3 for
    /// the response type.
    fileprivate func mode(
        for type: ReceivedAuthorizationRequest.ResponseType,
        _ scopes: Set<ReceivedAuthorizationRequest.Scope>,
        _ behaviors: Behaviors
    ) throws(Refusal) -> ReceivedAuthorizationRequest.ResponseMode {
        let mode: ReceivedAuthorizationRequest.ResponseMode =
            if let text = self["response_mode"] {
                try word(text, of: "response_mode")
            } else {
                type == .code ? .query : .fragment
            }
        guard mode != .webMessage || behaviors.webMessage == .accepted else {
            throw Refusal(
                .invalidRequest, in: "response_mode", because: "web_message is not documented")
        }
        let isReadByURL = mode == .query || mode == .fragment
        guard scopes.isDisjoint(with: [.name, .email]) || !isReadByURL else {
            throw Refusal(
                .invalidRequest, saying: Refusal.mustBeFormPost, in: "response_mode",
                because: "must be form_post with name or email, is \(mode.rawValue)")
        }
        guard type == .code || mode != .query else {
            throw Refusal(
                .invalidRequest, in: "response_mode",
                because: "must be fragment or form_post with id_token, is query",
                advising: """
                    Send response_mode=form_post, or fragment for a script without a server; or \
                    response_type=code, whose answer may be part of a query.
                    """)
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
                    .invalidRequest, in: "code_challenge",
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
            throw Refusal(code, in: name, because: "'\(text.clipped)' is not one of \(known)")
        }
        return word
    }
}
