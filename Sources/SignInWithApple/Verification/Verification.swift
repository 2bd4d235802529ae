/// What verifying one of Apple's tokens found.
public struct Verification<Claims: Sendable>: Sendable {
    /// Every check, in the order they were made.
    public let checks: [Check]
    /// The token as it came, nothing in it to be believed; nil when it is no JWT at all.
    public let token: CompactJWS?
    /// What the token says; nil unless every check that was made has passed.
    public let claims: Claims?

    /// - Parameter read: reads the claims once they are known to be Apple's.
    init(_ token: CompactJWS, _ checks: [Check], reading read: (JSON) -> Claims?) {
        self.checks = checks
        self.token = token
        let isSigned = checks.contains { $0.subject == .signature && $0.status == .passed }
        let hasFailed = checks.contains { $0.status == .failed }
        claims = isSigned && !hasFailed ? read(token.payload) : nil
    }

    /// What could not be looked at: one check failed, and there was no other to make.
    public init(impossible subject: Check.Subject, _ detail: String) {
        checks = [.failed(subject, detail)]
        token = nil
        claims = nil
    }

    /// What is no JWT.
    public init(_ error: CompactJWSError) {
        self.init(impossible: .format, error.description)
    }

    /// Whether the token is Apple's, and as it must be.
    public var isValid: Bool { claims != nil }

    /// The checks that failed.
    public var failures: [Check] { checks.filter { $0.status == .failed } }
}

/// What verifying an identity token found.
public typealias IdentityTokenVerification = Verification<IdentityTokenClaims>
