/// Apple said no: the `error` member of an answer (RFC 6749 §5.2).
public struct AppleError: Error, Hashable, Sendable {
    /// Open, because a code Apple adds tomorrow must reach the user intact.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code on the wire.
        public let rawValue: String
        /// Takes any code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The client_secret or the client was refused.
        public static let invalidClient = Self(rawValue: "invalid_client")
        /// The code or token was refused.
        public static let invalidGrant = Self(rawValue: "invalid_grant")
        /// A parameter is missing, repeated or malformed; or the user revoked the client.
        public static let invalidRequest = Self(rawValue: "invalid_request")
        /// The scope is unknown.
        public static let invalidScope = Self(rawValue: "invalid_scope")
        /// The client may not use this grant.
        public static let unauthorizedClient = Self(rawValue: "unauthorized_client")
        /// The grant is unknown.
        public static let unsupportedGrantType = Self(rawValue: "unsupported_grant_type")
    }

    /// `error`.
    public let code: Code
    /// `error_description`, which Apple does not document and seldom sends.
    public let detail: String?
    /// The status it came with.
    public let status: Int
    /// Apple's id of the request, which its support asks for; nil when it sent none.
    public let requestID: String?

    /// Reads a refusal; nil when the answer is none, or one without a code.
    public init?(_ response: HTTPResponse) {
        guard let json = try? JSON(response.body), let code = json["error"]?.string, !code.isEmpty
        else { return nil }
        self.code = Code(rawValue: code)
        detail = json["error_description"]?.string
        status = response.status
        requestID = response.requestID
    }
}
