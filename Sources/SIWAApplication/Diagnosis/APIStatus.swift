/// The status of an error of siwa-server's API (RFC 9110 §15).
package enum APIStatus: Int, Sendable, CaseIterable {
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case notAcceptable = 406
    case conflict = 409
    case gone = 410
    case contentTooLarge = 413
    case unsupportedMediaType = 415
    case unprocessable = 422
    case tooManyRequests = 429
    case headerTooLarge = 431
    case internalError = 500
    case badGateway = 502
    case unavailable = 503

    /// The reason phrase.
    package var title: String {
        switch self {
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .notAcceptable: "Not Acceptable"
        case .conflict: "Conflict"
        case .gone: "Gone"
        case .contentTooLarge: "Content Too Large"
        case .unsupportedMediaType: "Unsupported Media Type"
        case .unprocessable: "Unprocessable Content"
        case .tooManyRequests: "Too Many Requests"
        case .headerTooLarge: "Request Header Fields Too Large"
        case .internalError: "Internal Server Error"
        case .badGateway: "Bad Gateway"
        case .unavailable: "Service Unavailable"
        }
    }

    /// Whether the server can answer the same request later, or another replica now.
    package var isTemporary: Bool { self == .tooManyRequests || self == .unavailable }
}

extension ExitCode {
    /// The status of an error that has no more specific one.
    var apiStatus: APIStatus {
        switch self {
        case .usage: .badRequest
        case .clientRefused: .badGateway
        case .grantRefused, .requestRefused, .no: .unprocessable
        case .outcomeUnknown: .conflict
        case .temporary: .unavailable
        case .done, .settings, .deployFailed, .tooManyRefused, .defect, .notDelivered, .hungUp,
            .interrupted, .quit, .userSignal1, .userSignal2, .terminated, .processorTimeExceeded:
            .internalError
        }
    }
}
