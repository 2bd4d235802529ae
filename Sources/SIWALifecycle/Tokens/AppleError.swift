package import SIWAJOSE

/// Apple refused a request: the `error` of its response (RFC 6749 §5.2).
package struct AppleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The code, and the sentence if there is one.
    package var description: String { code.rawValue + (detail.map { ": \($0)" } ?? "") }

    /// An open set, because a code that Apple adds later must reach the user.
    package struct Code: RawRepresentable, Hashable, Sendable {
        /// The code on the wire.
        package let rawValue: String
        /// Creates a code from any text.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The client_secret or the client was refused.
        package static let invalidClient = Self(rawValue: "invalid_client")
        /// The code or token was refused.
        package static let invalidGrant = Self(rawValue: "invalid_grant")
        /// A parameter is missing, repeated or malformed; or the user revoked the client.
        package static let invalidRequest = Self(rawValue: "invalid_request")
        /// The scope is unknown.
        package static let invalidScope = Self(rawValue: "invalid_scope")
        /// The client may not use this grant.
        package static let unauthorizedClient = Self(rawValue: "unauthorized_client")
        /// The grant is unknown.
        package static let unsupportedGrantType = Self(rawValue: "unsupported_grant_type")
    }

    /// Why Apple refuses a code or token, by the sentence in its answer; there are no error codes
    /// for this.
    package enum GrantFault: Sendable {
        case otherClient
        case otherRedirectURI
        case codeUsed
        case codeExpired
        case tokenExpired

        init?(_ sentence: String) {
            switch sentence {
            case "The code has already been used.": self = .codeUsed
            case "The code has expired or has been revoked.": self = .codeExpired
            case "The token has expired or has been revoked.": self = .tokenExpired
            case _ where sentence.hasPrefix("client_id mismatch"): self = .otherClient
            case _ where sentence.hasPrefix("redirect_uri mismatch"): self = .otherRedirectURI
            default: return nil
            }
        }
    }

    /// The reason that ``detail`` gives for refusing a code or token; nil for other sentences.
    package var grantFault: GrantFault? { detail.flatMap { GrantFault($0) } }

    /// `error`.
    package let code: Code
    /// `error_description`, which Apple does not document and seldom sends.
    package let detail: String?
    /// The status it came with.
    package let status: Int
    /// Apple's id of the request, which its support asks for; nil if Apple sent none.
    package let requestID: String?

    /// A refusal of which only the code was stored; RFC 6749 §5.2 has 400 for all of them.
    package init(_ code: Code) { (self.code, detail, status, requestID) = (code, nil, 400, nil) }

    /// Reads a refusal; nil if the response has no `error`.
    package init?(_ response: HTTPResponse) {
        guard let json = try? JSON(response.body) else { return nil }
        self.init(json, status: response.status, requestID: response.requestID)
    }

    /// Reads the body of a refusal; nil if it has no `error`.
    package init?(_ json: JSON, status: Int, requestID: String? = nil) {
        guard let code = json["error"]?.string, !code.isEmpty else { return nil }
        self.code = Code(rawValue: code)
        detail = json["error_description"]?.string
        (self.status, self.requestID) = (status, requestID)
    }
}
