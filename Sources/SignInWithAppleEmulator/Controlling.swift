internal import SIWAEmulator
internal import SIWAJOSE
public import SignInWithApple

/// A fault of Apple's answers.
public struct EmulatedFault: Hashable, Sendable {
    /// The path of the endpoint, such as `/auth/token`; nil for all.
    public var endpoint: String?
    /// The status of the answer.
    public var status: Int?
    /// Apple's `error` in place of the answer, such as `invalid_client`.
    public var error: String?
    /// How long the answer takes.
    public var delay: Duration?
    /// Whether the connection is cut instead of an answer.
    public var isCut = false
    /// Whether Apple carries out the request although the answer is lost.
    public var isCarriedOut: Bool?
    /// How many requests it changes.
    public var count = 1

    /// Creates a fault.
    public init(
        endpoint: String? = nil, status: Int? = nil, error: String? = nil, delay: Duration? = nil,
        isCut: Bool = false, isCarriedOut: Bool? = nil, count: Int = 1
    ) {
        (self.endpoint, self.status, self.error, self.delay) = (endpoint, status, error, delay)
        (self.isCut, self.isCarriedOut, self.count) = (isCut, isCarriedOut, count)
    }
}

/// A request that the emulator received.
public struct ReceivedRequest: Hashable, Sendable {
    /// The method, such as `POST`.
    public let method: String
    /// The path, such as `/auth/token`.
    public let path: String
    /// The status of the answer.
    public let status: Int
    /// Apple's `error`, such as `invalid_client`; nil without one.
    public let error: String?
    /// Why it was answered in this way, such as `client_secret: expired`.
    public let verdict: String

    /// Creates a request, for tests.
    public init(method: String, path: String, status: Int, error: String? = nil, verdict: String) {
        (self.method, self.path, self.status) = (method, path, status)
        (self.error, self.verdict) = (error, verdict)
    }

    fileprivate init(_ row: JSON) {
        self.init(
            method: row["method"]?.string ?? "", path: row["path"]?.string ?? "",
            status: row["status"]?.integer ?? 0, error: row["error"]?.string,
            verdict: row["verdict"]?.string ?? "")
    }
}

extension InProcessApple {
    /// A person with an Apple Account.
    public struct User: Hashable, Sendable {
        /// The name by which ``InProcessApple`` knows the user.
        public var name: String
        /// The given name; nil if the account has none.
        public var firstName: String?
        /// The family name; nil if the account has none.
        public var lastName: String?
        /// The address; nil for a managed account without one.
        public var email: String?
        /// Whether Apple has verified ``email``.
        public var isEmailVerified = true
        /// What a first sign-in in an app says; nil says nothing.
        public var realUserStatus: SignInWithApple.RealUserStatus?

        /// Describes a user.
        public init(
            name: String, firstName: String? = nil, lastName: String? = nil, email: String? = nil
        ) {
            (self.name, self.firstName, self.lastName) = (name, firstName, lastName)
            self.email = email
        }
    }

    /// Changes the answers to the next requests.
    public func inject(_ fault: EmulatedFault) async throws(EmulatorError) {
        let members: [JSON.Member?] = [
            fault.endpoint.map { .init("endpoint", .string($0)) },
            fault.status.map { .init("status", .integer($0)) },
            fault.error.map { .init("error", .string($0)) },
            fault.delay.map { .init("delay", .string("\($0.wholeMilliseconds)ms")) },
            fault.isCut ? .init("cut", "no_answer") : nil,
            fault.isCarriedOut.map { .init("process", .boolean($0)) },
            .init("count", .integer(fault.count)),
        ]
        _ = try await control("faults", .object(members.compactMap(\.self)))
    }

    /// Ends all faults.
    public func clearFaults() async throws(EmulatorError) {
        _ = try await control("faults/clear", [:])
    }

    /// Does what Apple does when a user withdraws consent, deletes the account or changes the relay
    /// address, and signs the notification about it.
    ///
    /// - Parameters:
    ///   - kind: what the user does.
    ///   - user: the name of the user.
    ///   - clientID: the client; nil for that of ``client``.
    /// - Returns: the body that Apple posts to your endpoint.
    public func notify(
        _ kind: AccountEvent.Kind, user: String = "alice", to clientID: String? = nil
    ) async throws(EmulatorError) -> String {
        let answer = try await control(
            "notifications",
            [
                "type": .string(kind.rawValue), "user": .string(user),
                "client_id": .string(clientID ?? client.clientID),
            ])
        return JSON.object([.init("payload", answer["payload"] ?? .null)]).text
    }

    /// Adds a user, who can sign in at once.
    public func add(_ user: User) async throws(EmulatorError) {
        let members: [JSON.Member?] = [
            .init("name", .string(user.name)),
            user.firstName.map { .init("first_name", .string($0)) },
            user.lastName.map { .init("last_name", .string($0)) },
            user.email.map { .init("email", .string($0)) },
            user.isEmailVerified ? nil : .init("email_verified", .boolean(false)),
            user.realUserStatus.map { .init("real_user_status", .integer($0.rawValue)) },
        ]
        _ = try await control("users", .object(members.compactMap(\.self)))
    }

    /// Does what an administrator of the team does who revokes a private key: client secrets that it
    /// signed are refused from now on.
    public func revokeKey(_ id: String) async throws(EmulatorError) {
        _ = try await control("keys/revoke", ["key_id": .string(id)])
    }

    /// The requests that the emulator received, in their order, with the reason of each refusal, which
    /// Apple does not tell.
    public func requests() async throws(EmulatorError) -> [ReceivedRequest] {
        try await control("requests", [:])["requests"]?.elements?.map(ReceivedRequest.init) ?? []
    }

    /// The paths of the requests that the emulator received, in their order.
    public func requestedPaths() async throws(EmulatorError) -> [String] {
        try await control("requests", [:])["requests"]?.elements?
            .compactMap { $0["path"]?.string } ?? []
    }

    /// Makes Apple sign with a new key; identity tokens of the old one stay valid.
    public func rotateKeys() async throws(EmulatorError) {
        _ = try await control("keys/rotate", [:])
    }

    /// Controls the emulator, like a request to a path under `/emulator/`: what has no method here
    /// (docs/emulator.md).
    ///
    /// ```swift
    /// try await emulator.control("switches", #"{"email_verified": "string"}"#)
    /// ```
    ///
    /// - Parameters:
    ///   - name: the path after `/emulator/`.
    ///   - body: a JSON object.
    /// - Returns: the answer, a JSON object.
    /// - Throws: ``EmulatorError`` with the error of the same request.
    @discardableResult
    public func control(
        _ name: String, _ body: String = "{}"
    ) async throws(EmulatorError) -> String {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(text: body)
        } catch {
            throw EmulatorError("the body \(error)")
        }
        return try await control(name, json).text
    }

    func control(_ name: String, _ body: JSON) async throws(EmulatorError) -> JSON {
        do {
            return try await emulator.control(name, body)
        } catch {
            throw EmulatorError("\(error)")
        }
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
