public import SignInWithApple

// What a control request does.
extension AppleEmulator {
    /// Carries out a control request without a socket: `control("codes", ["client_id": …])`.
    ///
    /// - Throws: What the same request over a socket would be told.
    public func control(_ name: String, _ body: JSON = [:]) async throws -> JSON {
        try await carryOut(try Control(named: name), body, isFromConsole: false)
    }

    /// Carries out a control request and writes down that it did, for the console.
    func carryOut(_ control: Control, _ body: JSON, isFromConsole: Bool) async throws -> JSON {
        guard control.isChange(body) else { return try await perform(control, body) }
        func record(_ error: String?) {
            history.append(
                ControlRecord(
                    at: service.now(), name: control.rawValue, summary: body.controlSummary,
                    error: error, isFromConsole: isFromConsole))
            bell.ring()
        }
        do {
            let answer = try await perform(control, body)
            record(nil)
            return answer
        } catch {
            record("\(error)".clipped)
            throw error
        }
    }

    private func perform(_ control: Control, _ body: JSON) async throws -> JSON {
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
        case .requests: return try await requests(LogSelection(json: body))
        case .keysRevoke: return try revokeKey(body)
        case .keysRotate: return try await rotateKeys(Rotation(json: body))
        case .notifications: return try await notify(body)
        case .notificationsResend: return try await resend(Redelivery(json: body))
        case .receiver: return try setReceiver(body)
        case .users: return try addUser(body)
        case .faultsClear: return try clearFaults(body)
        case .transfer: return try service.accept(TransferAcceptance(json: body))
        case .seed: return try service.plant(Seed(json: body, in: configuration))
        case .reset: return reset()
        }
    }

    private func turnClock(_ body: JSON) throws(ShapeError) -> JSON {
        let reader = try MemberReader(body, knowing: ["offset", "forward"])
        let step: Duration? = try reader.optional("forward")
        guard step == nil || body["offset"] == nil else {
            throw ShapeError("", "'offset' and 'forward' exclude each other")
        }
        let offset: Duration =
            if let step { clockOffset + step } else { try reader.required("offset") }
        guard abs(offset.components.seconds) <= 100 * 366 * 86_400 else {
            throw ShapeError("", "the emulator's time must stay within a century of the real time")
        }
        clockOffset = offset
        service.now = { [clock] in clock() + offset }
        let members = [
            JSON.Member("offset", offset.json), JSON.Member("now", .string(service.now().rfc3339)),
        ]
        return .object(members + (service.clockWarning(offset).map { [$0] } ?? []))
    }

    /// Answers the requests asked for; waits for the first of them when that is asked for, too.
    private func requests(_ selection: LogSelection) async -> JSON {
        let end = ContinuousClock.now + selection.wait
        while !log.contains(selection), ContinuousClock.now < end, !Task.isCancelled {
            await waitForChange(atMost: end - .now)
        }
        return log.json(selection)
    }

    private func clearFaults(_ body: JSON) throws(ShapeError) -> JSON {
        let number: Int? = try MemberReader(body, knowing: ["number"]).optional("number")
        faults.remove(number)
        return ["queued": .integer(faults.count)]
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
        log = RequestLog()
        notifications = LatestItems(limit: 200)
        receiver = configuration.notificationURL
        clockOffset = .zero
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
