internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The body of `POST /emulator/tokens`.
private struct AlteredToken {
    /// Where the altered token is seen.
    enum Delivery: String, CaseIterable, JSONConvertible {
        /// In the answer alone.
        case `return`
        /// Also in the next exchange of the code.
        case exchange
    }

    static let members =
        EmulatedSignIn.members + TokenAlteration.members + ["code", "deliver", "access_token"]

    let alteration: TokenAlteration
    let delivery: Delivery
    /// A code that was issued before; nil for a new sign-in.
    let code: String?
    /// What the exchange answers with, besides the altered token; nil for a new one.
    let accessToken: String?

    init(_ reader: JSONObjectReader) throws(ShapeError) {
        alteration = try TokenAlteration(reader)
        delivery = try reader.optional("deliver") ?? .return
        code = try reader.optional("code")
        accessToken = try reader.optional("access_token")
        if let accessToken {
            guard delivery == .exchange else {
                throw ShapeError("", "'access_token' needs 'deliver': 'exchange'")
            }
            guard TokenText.kind(of: accessToken) == .access else {
                throw ShapeError("", "'access_token' does not look like an access token of Apple's")
            }
        }
        let others = EmulatedSignIn.members.filter { reader.json[$0] != nil }
        if let other = others.first, code != nil {
            throw ShapeError("", "'code' and '\(other)' exclude each other")
        }
    }
}

// POST /emulator/tokens.
extension Service {
    /// Signs a user in, or takes a code that was issued, and makes an identity token for it that is
    /// changed as asked for; nothing in the token says so.
    ///
    /// - Throws: ``ShapeError`` for another body, ``ControlError`` for an unknown code.
    mutating func alterToken(_ body: JSON) throws -> JSON {
        let altered = try AlteredToken(JSONObjectReader(body, knowing: AlteredToken.members))
        let (code, idToken, claims) = try signedIn(altered, body)
        if altered.delivery == .exchange {
            preparedAnswers[code] = PreparedAnswer(
                alteration: altered.alteration, accessToken: altered.accessToken)
        }
        return [
            "code": .string(code), "id_token": .string(idToken),
            "token": .string(try keys.token(claims, altered: altered.alteration)),
        ]
    }

    /// The code, its good identity token and the claims of that.
    private mutating func signedIn(
        _ altered: AlteredToken, _ body: JSON
    ) throws -> (code: String, idToken: String, claims: JSON) {
        guard let text = altered.code else {
            let members = body.members?.filter { EmulatedSignIn.members.contains($0.name) }
            let signIn = try EmulatedSignIn(json: .object(members ?? []), in: configuration, users)
            let admission = try self.signIn(signIn)
            return (
                admission.code, admission.idToken,
                try CompactJWS(admission.idToken).payload
            )
        }
        guard let code = ledger.code(text) else {
            throw ControlError("'code' was not issued by this emulator")
        }
        let claims = try json(
            IssuedClaims(
                clientID: code.clientID, user: code.user, companion: .code(text),
                nonce: code.nonce, signedInAt: code.issuedAt))
        return (text, try keys.token(claims), claims)
    }
}

// GET /emulator/keys/private.
extension EmulatorKeys {
    /// The published keys with their private halves, so that other programs can make tokens with
    /// any library.
    func privateDocument() throws -> JSON {
        let keys = try entries.map { entry -> JSON in
            let pem = try entry.key.pemRepresentation().revealed()
            return [
                "kid": .string(entry.keyID), "pem": .string(String(decoding: pem, as: UTF8.self)),
            ]
        }
        return ["signing": .string(signing.keyID), "keys": .array(keys)]
    }
}

// POST /emulator/sessions/access-token.
extension AppleEmulator {
    /// Issues another access token to a user, as a refresh of the newest session does.
    ///
    /// - Throws: ``ShapeError`` for another body, ``ControlError`` for an unknown user.
    func issueAccessToken(_ body: JSON) throws -> JSON {
        let name: String = try JSONObjectReader(body, knowing: ["user"]).required("user")
        guard service.users[name] != nil else {
            throw ControlError("'\(name.clipped)' is not a user")
        }
        return ["access_token": .string(try accessToken(of: name))]
    }
}

// GET /emulator/sessions.
extension Service {
    private static let sessionsLimit = 1000

    /// The latest sessions, or those of one user, and whether their refresh tokens are revoked.
    func sessions(_ body: JSON) throws(ShapeError) -> JSON {
        let name: String? = try JSONObjectReader(body, knowing: ["user"]).optional("user")
        let sessions = ledger.newestSessions(Self.sessionsLimit).filter {
            $0.user != nil && (name == nil || $0.user?.name == name)
        }
        return [
            "sessions": .array(
                sessions.map {
                    [
                        "user": .string($0.user?.name ?? ""), "client_id": $0.clientID.json,
                        "at": .string($0.signedInAt.rfc3339), "revoked": .boolean($0.isRevoked),
                    ]
                })
        ]
    }
}
