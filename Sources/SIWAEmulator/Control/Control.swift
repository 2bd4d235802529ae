internal import SIWAJOSE

/// The control requests: everything under `/emulator/`.
enum Control: String, CaseIterable {
    case codes
    case tokens
    case faults
    case clock
    case switches
    case requests
    case keysRevoke = "keys/revoke"
    case keysRotate = "keys/rotate"
    case keysPrivate = "keys/private"
    case sessions
    case accessTokens = "sessions/access-token"
    case notifications
    case notificationsResend = "notifications/resend"
    case notificationsSent = "notifications/sent"
    case receiver
    case users
    case faultsClear = "faults/clear"
    case transfer
    case seed
    case baits
    case reset

    static let root = "/emulator/"

    /// The control called `name`: its path after ``root``.
    init(named name: String) throws(ControlError) {
        guard let control = Control(rawValue: name) else {
            let known = Control.allCases.map { Self.root + $0.rawValue }.joined(separator: ", ")
            throw ControlError(status: 404, "the control does not exist; known are \(known)")
        }
        self = control
    }

    /// The control request that an HTTP request is.
    init(_ request: EmulatorRequest) throws(ControlError) {
        try self.init(named: String(request.path.dropFirst(Self.root.count)))
        guard methods.contains(request.method) else {
            throw ControlError(status: 405, "must be \(methods.joined(separator: " or "))")
        }
    }

    /// Whether it changes something: reading the switches does not.
    func isChange(_ body: JSON) -> Bool {
        switch self {
        case .requests, .notificationsSent, .keysPrivate, .sessions: false
        case .switches: body != [:]
        default: true
        }
    }

    var methods: [String] {
        switch self {
        case .requests, .notificationsSent, .keysPrivate, .sessions: ["GET"]
        case .switches: ["GET", "POST"]
        default: ["POST"]
        }
    }
}

extension EmulatorRequest {
    /// The body of a control request; an absent body is an empty object. For a GET, the query.
    func controlBody() throws(ControlError) -> JSON {
        if method == "GET" {
            guard let query = try? ReceivedForm(self) else {
                throw ControlError("the query is not percent-encoded as it must be")
            }
            return .object(query.parameters.map { JSON.Member($0.name, .string($0.value)) })
        }
        guard body.count <= Self.bodyLimit else {
            throw ControlError(status: 413, "the body is longer than \(Self.bodyLimit) bytes")
        }
        guard !body.isEmpty else { return [:] }
        do throws(JSONError) {
            return try JSON(body)
        } catch {
            throw ControlError("the body \(error)")
        }
    }
}
