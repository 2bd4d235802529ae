internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The content of an identity token.
struct IssuedClaims {
    /// The code or access token that was issued with the identity token, which contains its hash.
    enum Companion {
        case code(String)
        case accessToken(String)
    }

    let clientID: ClientID
    let user: EmulatedUser
    let companion: Companion
    let nonce: String?
    /// `auth_time`; nil leaves it out.
    let signedInAt: NumericDate?
    /// Present only in an app, and only at the first sign-in.
    var realUserStatus: Int?
    /// `iss`.
    var issuer = Behaviors.Issuer.appleID.rawValue
    /// The user's id with the client's team; nil for the first team.
    var subject: UserID?
    /// The transfer identifier, by which the user can be recognised after a transfer.
    var transferID: TransferID?

    /// iss, aud, exp, iat, sub, nonce, c_hash or at_hash, the email claims, auth_time,
    /// nonce_supported, real_user_status: the recorded order. The position of transfer_sub is not recorded.
    func json(issuedAt now: NumericDate, behaviors: Behaviors) throws(OpenSSLError) -> JSON {
        var members = [
            JSON.Member("iss", .string(issuer)),
            JSON.Member("aud", .string(clientID.rawValue)),
            JSON.Member("exp", .integer((now + behaviors.idTokenLifetime).seconds)),
            JSON.Member("iat", .integer(now.seconds)),
            JSON.Member("sub", .string((subject ?? user.userID).rawValue)),
        ]
        if let nonce { members.append(JSON.Member("nonce", .string(nonce))) }
        members.append(try companion.hash())
        members += emailClaims(behaviors.emailClaims)
        if let signedInAt {
            members.append(JSON.Member("auth_time", .integer(signedInAt.seconds)))
        }
        members.append(JSON.Member("nonce_supported", true))
        if let realUserStatus {
            members.append(JSON.Member("real_user_status", .integer(realUserStatus)))
        }
        if let transferID { members.append(JSON.Member("transfer_sub", transferID.json)) }
        return .object(members)
    }

    /// `is_private_email` is absent rather than false.
    private func emailClaims(_ style: Behaviors.EmailClaims) -> [JSON.Member] {
        guard let email = user.email else { return [] }
        func flag(_ value: Bool) -> JSON {
            style == .boolean ? .boolean(value) : .string(String(value))
        }
        let claims = [
            JSON.Member("email", .string(email)),
            JSON.Member("email_verified", flag(user.isEmailVerified)),
        ]
        return user.isPrivateEmail
            ? claims + [JSON.Member("is_private_email", flag(true))] : claims
    }
}

extension IssuedClaims.Companion {
    /// The left half of the SHA-256, in base64url (OpenID Connect Core §3.1.3.6).
    fileprivate func hash() throws(OpenSSLError) -> JSON.Member {
        let (name, text) =
            switch self {
            case .code(let text): ("c_hash", text)
            case .accessToken(let text): ("at_hash", text)
            }
        return JSON.Member(
            name, .string(Base64URL.encode(try SHA256.digest(text).prefix(16))))
    }
}
