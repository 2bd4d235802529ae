public import SignInWithApple

/// A strict Apple in memory: one state machine, reached through a socket or from a test.
///
/// An actor, so that of two hundred parallel exchanges of one code exactly one succeeds.
public actor AppleEmulator {
    private let configuration: EmulatorConfiguration
    private let keys: EmulatorKeys
    private let clock: @Sendable () -> NumericDate
    private var service: Service
    private var faults = FaultQueue()
    private var log = RequestLog()

    /// Starts with nothing issued.
    ///
    /// - Parameter clock: Where time comes from before a control request moves it.
    public init(
        configuration: EmulatorConfiguration, keys: EmulatorKeys,
        clock: @escaping @Sendable () -> NumericDate
    ) {
        self.configuration = configuration
        self.keys = keys
        self.clock = clock
        service = Service(
            configuration: configuration, keys: keys, now: clock,
            switches: configuration.switches)
    }

    /// Answers one request; requests to Apple's paths are written down.
    public func respond(to request: EmulatorRequest) -> EmulatorReply {
        let requestID = Fresh.requestID()
        guard !request.isControl else {
            return EmulatorReply(respond(with: control(request), requestID))
        }
        let fault = faults.next(for: request.path)
        let form = FormReading { () throws(Refusal) in try ReceivedForm(request) }
        let answer = answer(request, form, fault)
        log.append {
            RequestRecord(
                number: $0, requestID: requestID, at: service.now(), request, form, answer, fault)
        }
        return EmulatorReply(
            respond(with: fault?.apply(to: answer.page) ?? answer.page, requestID),
            delay: fault?.delay ?? .zero, cut: fault?.cut)
    }

    private func answer(
        _ request: EmulatorRequest, _ form: FormReading, _ fault: Fault?
    ) -> Answer {
        guard fault?.reachesApple ?? true else {
            return Answer(.nothing, because: "never reached Apple")
        }
        return service.answer(request, form)
    }

    /// Adds what Apple's edge adds. `Date` follows the emulator's clock, so that a client
    /// can see how far its own is off.
    private func respond(with page: Page, _ requestID: String) -> HTTPResponse {
        let edge = [
            HTTPField("Server", "Apple"), HTTPField("Date", service.now().httpDate),
            HTTPField("X-Apple-I-Request-ID", requestID),
        ]
        let own = edge.filter { page.fields[$0.name] == nil }
        return HTTPResponse(status: page.status, fields: own + page.fields, body: page.body)
    }
}

// Control.
extension AppleEmulator {
    /// Carries out a control request without a socket: `control("codes", ["client_id": …])`.
    ///
    /// - Throws: What the same request over a socket would be told.
    public func control(_ name: String, _ body: JSON = [:]) throws -> JSON {
        try carryOut(try Control(named: name), body)
    }

    private func control(_ request: EmulatorRequest) -> Page {
        do {
            try ControlGate.check(request)
            return .json(try carryOut(try Control(request), try request.controlBody()))
        } catch let error as ControlError {
            return error.page
        } catch let error as ShapeError {
            return ControlError(error.description).page
        } catch {
            return ControlError(status: 500, "the emulator itself failed: \(error)").page
        }
    }

    private func carryOut(_ control: Control, _ body: JSON) throws -> JSON {
        switch control {
        case .codes:
            let admission = try service.signIn(SignIn(json: body, in: configuration))
            return ["code": .string(admission.code), "id_token": .string(admission.idToken)]
        case .faults:
            faults.append(try Fault(json: body))
            return ["queued": .integer(faults.count)]
        case .clock: return try turnClock(body)
        case .switches:
            try service.switches.turn(body)
            return service.switches.json
        case .requests: return log.json
        case .keysRevoke: return try revokeKey(body)
        case .reset: return reset()
        }
    }

    private func turnClock(_ body: JSON) throws(ShapeError) -> JSON {
        let offset: Duration = try MemberReader(body, knowing: ["offset"]).required("offset")
        service.now = { [clock] in clock() + offset }
        return ["offset": offset.json, "now": .string(service.now().rfc3339)]
    }

    private func revokeKey(_ body: JSON) throws(ShapeError) -> JSON {
        let name: KeyID = try MemberReader(body, knowing: ["key_id"]).required("key_id")
        guard configuration.key(name.rawValue) != nil else {
            let known = configuration.keys.map(\.keyID.rawValue).joined(separator: ", ")
            throw ShapeError("", "'\(name)' is no key of this team; known are \(known)")
        }
        service.revokedKeys.insert(name)
        return ["revoked": name.json]
    }

    private func reset() -> JSON {
        service = Service(
            configuration: configuration, keys: keys, now: clock,
            switches: configuration.switches)
        faults = FaultQueue()
        log = RequestLog()
        return ["reset": true]
    }
}
