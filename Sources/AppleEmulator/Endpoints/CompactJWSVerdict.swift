internal import SignInWithApple

extension CompactJWSError {
    /// What is wrong with the token, as a verdict says it.
    var verdict: String {
        switch self {
        case .tooLong(let count): "has \(count) characters"
        case .parts(let count): "has \(count) parts between dots, must have three"
        case .base64URL(let part, let error): "the \(part) is no base64url: \(error.verdict)"
        case .json(let part, let error): "the \(part) \(error)"
        case .notAnObject(let part): "the \(part) is no JSON object"
        }
    }
}

extension Base64URLError {
    fileprivate var verdict: String {
        switch self {
        case .character(let byte): "'\(Unicode.Scalar(byte))' is not of its alphabet"
        case .length(let count): "no encoder writes \(count) characters"
        case .strayBits: "bits are left over"
        }
    }
}

extension String {
    /// At most the first 200 characters: what a client sent must not swell the log.
    var clipped: String { count > 200 ? prefix(200) + "…" : self }
}
