internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The response to the client, in the mode it asked for.
struct Callback {
    private let redirectURI: String
    private let mode: ReceivedAuthorizationRequest.ResponseMode
    private let parameters: [(name: String, value: String)]

    /// Carries `parameters`, and the request's state after them.
    init(of request: ReceivedAuthorizationRequest, _ parameters: [(String, String)]) {
        redirectURI = request.redirectURI
        mode = request.mode
        self.parameters = parameters + (request.state.map { [("state", $0)] } ?? [])
    }

    /// Carries a code, the identity token if it was asked for, and at the first consent the user's
    /// name and address.
    init(of request: ReceivedAuthorizationRequest, _ admission: Admission) {
        var parameters = [("code", admission.code)]
        if request.responseType == .codeAndIdentityToken {
            parameters.append(("id_token", admission.idToken))
        }
        if admission.isFirst, let user = admission.user.introduction(to: request.scopes) {
            parameters.append(("user", user.text))
        }
        self.init(of: request, parameters)
    }

    var page: Page {
        switch mode {
        case .query: redirect(redirectURI.contains("?") ? "&" : "?")
        case .fragment: redirect("#")
        case .formPost: form.page()
        case .webMessage: message.page()
        }
    }

    private func redirect(_ separator: String) -> Page {
        let encoded = Form(parameters.map { ($0.name, .plain($0.value)) }).encoded().revealed()
        let location = redirectURI + separator + String(decoding: encoded, as: UTF8.self)
        return Page(
            status: 302,
            fields: [HTTPField("Location", location), HTTPField("Cache-Control", "no-store")],
            body: [])
    }

    /// Sends the answer to the script that opened the window, and only to the origin of the
    /// redirect URI. What Apple's page posts is not recorded; the members of `data` are those that
    /// Apple documents for its script (Apple: "Configuring your webpage for Sign in with Apple").
    private var message: Document {
        let host = WebAddress(redirectURI)?.host ?? ""
        return Document(
            title: "Back to \(host)",
            content: """
                <p id="message" data-origin="\(WebAddress.origin(of: redirectURI) ?? "")" \
                data-message="\(messageData.text)">This window may be closed.</p>
                """,
            script: """
                const sent = document.getElementById("message").dataset;
                (window.opener ?? window.parent).postMessage(sent.message, sent.origin);
                """)
    }

    private var messageData: JSON {
        var authorization: [JSON.Member] = []
        var data: [JSON.Member] = []
        for (name, value) in parameters {
            switch name {
            case "user": data.append(JSON.Member(name, (try? JSON(text: value)) ?? .string(value)))
            case "error": data.append(JSON.Member(name, .string(value)))
            default: authorization.append(JSON.Member(name, .string(value)))
            }
        }
        if !authorization.isEmpty {
            data.insert(JSON.Member("authorization", .object(authorization)), at: 0)
        }
        return ["method": "oauthDone", "data": .object(data)]
    }

    /// The form is submitted by a script, or by its button if scripts are disabled.
    private var form: Document {
        let inputs = parameters.map { parameter -> HTML in
            #"<input type="hidden" name="\#(parameter.name)" value="\#(parameter.value)">"#
        }
        let host = WebAddress(redirectURI)?.host ?? ""
        return Document(
            title: "Back to \(host)",
            content: """
                <form method="post" action="\(redirectURI)">
                \(inputs)
                <p><button>Continue to \(host)</button></p>
                </form>
                """,
            script: "document.forms[0].submit()")
    }
}

extension EmulatedUser {
    /// The `user` field, with what the client asked for: an unsigned name and address.
    fileprivate func introduction(to scopes: Set<ReceivedAuthorizationRequest.Scope>) -> JSON? {
        var members: [JSON.Member] = []
        let names = [("firstName", firstName), ("lastName", lastName)]
            .compactMap { name, value in value.map { JSON.Member(name, .string($0)) } }
        if scopes.contains(.name), !names.isEmpty {
            members.append(JSON.Member("name", .object(names)))
        }
        if scopes.contains(.email), let email {
            members.append(JSON.Member("email", .string(email)))
        }
        return members.isEmpty ? nil : .object(members)
    }
}
