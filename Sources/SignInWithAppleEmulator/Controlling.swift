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

extension InProcessApple {
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
    /// try await apple.control("switches", #"{"email_verified": "string"}"#)
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
