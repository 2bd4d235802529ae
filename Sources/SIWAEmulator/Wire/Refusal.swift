/// A refusal: Apple's answer, and the reason, which Apple does not reveal.
struct Refusal: Error, Hashable {
    /// Apple's error codes.
    enum Code: String {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unsupportedGrantType = "unsupported_grant_type"
        case unauthorizedClient = "unauthorized_client"
        case invalidScope = "invalid_scope"
    }

    /// `error` on the wire.
    let code: Code
    /// `error_description` on the wire; Apple gives one for a few refusals only.
    let description: String?
    /// The parameter, or another thing that was examined.
    let check: String
    /// What is wrong with it.
    let fault: String
    /// What to do about it, where the advice for the check is not enough.
    private let ownAdvice: String?

    init(
        _ code: Code, saying description: String? = nil, in check: String, because fault: String,
        advising advice: String? = nil
    ) {
        self.code = code
        self.description = description
        self.check = check
        self.fault = fault
        ownAdvice = advice
    }

    /// What the person who sees the error page can do.
    var advice: String { ownAdvice ?? Self.advice(about: check) }

    /// Why, for `GET /emulator/requests`.
    var verdict: String { "\(check): \(fault)" }
}

extension Refusal {
    /// The strings recorded from Apple; no other description is ever sent.
    static let codeExpired = "The code has expired or has been revoked."
    static let codeUsed = "The code has already been used."
    static let tokenExpired = "The token has expired or has been revoked."
    static let mustBeFormPost =
        "response_mode must be form_post when name or email scope is requested."
}
