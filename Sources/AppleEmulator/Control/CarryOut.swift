public import SignInWithApple

// What a control request does.
extension AppleEmulator {
    /// Carries out a control request without a socket: `control("codes", ["client_id": …])`.
    ///
    /// - Throws: What the same request over a socket would be told.
    public func control(_ name: String, _ body: JSON = [:]) async throws -> JSON {
        try await carryOut(try Control(named: name), body)
    }

    func control(_ request: EmulatorRequest) async -> Page {
        do {
            try ControlGate.check(request)
            let (control, body) = (try Control(request), try request.controlBody())
            let answer = try await carryOut(control, body)
            let isLines = control == .seed && body["format"] == .string(Seed.Format.lines.rawValue)
            return isLines ? .lines(answer) : .json(answer)
        } catch let error as ControlError {
            return error.page
        } catch let error as ShapeError {
            return ControlError(error.description).page
        } catch {
            return ControlError(status: 500, "the emulator itself failed: \(error)").page
        }
    }

    private func carryOut(_ control: Control, _ body: JSON) async throws -> JSON {
        switch control {
        case .codes:
            let admission = try service.signIn(
                SignIn(json: body, in: configuration, service.users))
            return ["code": .string(admission.code), "id_token": .string(admission.idToken)]
        case .faults:
            faults.append(try Fault(json: body))
            return ["queued": .integer(faults.count)]
        case .clock: return try turnClock(body)
        case .switches:
            try service.switches.turn(body)
            return service.switches.json
        case .requests:
            return log.json(try LogSelection(json: body))
        case .keysRevoke: return try revokeKey(body)
        case .keysRotate: return try await rotateKeys(Rotation(json: body))
        case .notifications: return try await notify(body)
        case .transfer: return try service.accept(TransferAcceptance(json: body))
        case .seed: return try service.plant(Seed(json: body, in: configuration))
        case .reset: return reset()
        }
    }

    private func turnClock(_ body: JSON) throws(ShapeError) -> JSON {
        let offset: Duration = try MemberReader(body, knowing: ["offset"]).required("offset")
        service.now = { [clock] in clock() + offset }
        let members = [
            JSON.Member("offset", offset.json), JSON.Member("now", .string(service.now().rfc3339)),
        ]
        return .object(members + (service.clockWarning(offset).map { [$0] } ?? []))
    }

    private func revokeKey(_ body: JSON) throws(ShapeError) -> JSON {
        let name: KeyID = try MemberReader(body, knowing: ["key_id"]).required("key_id")
        let keys = configuration.teams.flatMap(\.keys)
        guard keys.contains(where: { $0.keyID == name }) else {
            let known = keys.map(\.keyID.rawValue).joined(separator: ", ")
            throw ShapeError("", "'\(name)' is no key of this team; known are \(known)")
        }
        service.revokedKeys.insert(name)
        return ["revoked": name.json]
    }

    private func rotateKeys(_ rotation: Rotation) async throws -> JSON {
        let fresh = try await EmulatorKeys.fresh(service.keys.shortfall(for: rotation))
        return service.keys.rotate(rotation, adding: fresh)
    }

    private func reset() -> JSON {
        service = Service(configuration: configuration, keys: keys, clock: clock)
        faults = FaultQueue()
        log = RequestLog(startingAfter: log.count)
        return ["reset": true]
    }
}

extension Service {
    /// What a moved clock does to the client_secrets of a client that does not know of it.
    fileprivate func clockWarning(_ offset: Duration) -> JSON.Member? {
        guard switches.secretClock == .moved, abs(offset.components.seconds) > 60 else {
            return nil
        }
        let fate = offset > .zero ? "expire that much earlier" : "are issued in the future"
        return JSON.Member(
            "warning",
            .string(
                """
                to the emulator, client_secrets minted by the real time \(fate); the switch \
                secret_clock "real" examines them by the real time
                """))
    }
}
