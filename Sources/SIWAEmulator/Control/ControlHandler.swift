package import SIWAJOSE
internal import SIWALifecycle

// Carries out control requests.
extension AppleEmulator {
    /// Carries out a control request without a socket: `control("codes", ["client_id": …])`.
    ///
    /// - Throws: The error that the same request over a socket would be answered with.
    package func control(_ name: String, _ body: JSON = [:]) async throws -> JSON {
        try await carryOut(try Control(named: name), body, isFromConsole: false)
    }

    /// Carries out a control request and records it for the console.
    func carryOut(_ control: Control, _ body: JSON, isFromConsole: Bool) async throws -> JSON {
        guard control.isChange(body) else { return try await perform(control, body) }
        func record(_ error: String?) {
            history.append(
                ControlRecord(
                    at: service.now(), name: control.rawValue, summary: body.controlSummary,
                    error: error, isFromConsole: isFromConsole))
            changes.notify()
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
                EmulatedSignIn(json: body, in: configuration, service.users))
            return ["code": .string(admission.code), "id_token": .string(admission.idToken)]
        case .tokens: return try service.alterToken(body)
        case .faults:
            faults.append(try Fault(json: body))
            return ["queued": .integer(faults.count)]
        case .clock: return try moveClock(body)
        case .switches:
            try service.behaviors.set(body)
            return service.behaviors.json
        case .requests: return try await requests(body)
        case .notificationsSent: return try await sentNotifications(body)
        case .keysRevoke: return try revokeKey(body)
        case .keysPrivate: return try service.keys.privateDocument()
        case .sessions: return try service.sessions(body)
        case .accessTokens: return try issueAccessToken(body)
        case .keysRotate: return try await rotateKeys(Rotation(json: body))
        case .notifications: return try await notify(body)
        case .notificationsResend: return try await resend(Redelivery(json: body))
        case .receiver: return try setReceiver(body)
        case .users: return try addUser(body)
        case .faultsClear: return try clearFaults(body)
        case .transfer: return try service.accept(TransferAcceptance(json: body))
        case .baits: return try service.layBait(body)
        case .seed: return try service.create(Seed(json: body, in: configuration))
        case .reset: return reset()
        }
    }

    private func moveClock(_ body: JSON) throws(ShapeError) -> JSON {
        let reader = try JSONObjectReader(body, knowing: ["offset", "forward"])
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

    private func requests(_ body: JSON) async throws -> JSON {
        let reader = try JSONObjectReader(body, knowing: ["path"] + LogPage.members)
        let (page, path): (LogPage, String?) = (try LogPage(reader), try reader.optional("path"))
        await wait(atMost: page.wait) { log.contains(after: page.after, path) }
        let records = log.records(after: page.after, path)
        return ["instance": .string(instance), "requests": page.rows(records.map(\.json))]
    }

    private func sentNotifications(_ body: JSON) async throws -> JSON {
        let page = try LogPage(JSONObjectReader(body, knowing: LogPage.members))
        await wait(atMost: page.wait) { notifications.count > page.after }
        let numbers = notifications.numbers.clamped(to: page.after + 1..<Int.max)
        let records = numbers.lazy.compactMap { number in
            self.notifications[number].map { $0.json(number: number) }
        }
        return ["instance": .string(instance), "notifications": page.rows(records)]
    }

    /// Returns when `isThere` is true, at a reset, after `limit`, or when the task is cancelled.
    private func wait(atMost limit: Duration, until isThere: () -> Bool) async {
        let (end, instance) = (ContinuousClock.now + limit, instance)
        while !isThere(), self.instance == instance, ContinuousClock.now < end, !Task.isCancelled {
            await changes.wait(after: changes.count, atMost: end - .now)
        }
    }

    private func clearFaults(_ body: JSON) throws(ShapeError) -> JSON {
        let number: Int? = try JSONObjectReader(body, knowing: ["number"]).optional("number")
        faults.remove(number)
        return ["queued": .integer(faults.count)]
    }

    private func revokeKey(_ body: JSON) throws(ShapeError) -> JSON {
        let name: KeyID = try JSONObjectReader(body, knowing: ["key_id"]).required("key_id")
        let keys = configuration.teams.flatMap(\.keys)
        guard keys.contains(where: { $0.keyID == name }) else {
            let known = keys.map(\.keyID.rawValue).joined(separator: ", ")
            throw ShapeError("", "'\(name)' is not a key of this team; known are \(known)")
        }
        service.revokedKeys.insert(name)
        return ["revoked": name.json]
    }

    private func rotateKeys(_ rotation: Rotation) async throws -> JSON {
        let count = try service.keys.shortfall(for: rotation)
        let pooled = try service.keys.takeFromPool(count)
        let fresh = if let pooled { pooled } else { try await EmulatorKeys.fresh(count) }
        return service.keys.rotate(rotation, adding: fresh)
    }

    private func reset() -> JSON {
        for task in deliveryTasks.values { task.cancel() }
        service = Service(
            configuration: configuration, keys: keys, random: source, clock: clock)
        requestIDs = source.stream("request ids")
        faults = FaultQueue()
        log = RequestLog()
        notifications = LatestItems(limit: Self.notificationsLimit)
        instance = Fresh.text(12)
        random = SplitMix64()
        receiver = configuration.notificationURL
        clockOffset = .zero
        return ["reset": true]
    }
}

extension Service {
    /// A warning about the effect of a moved clock on the client_secrets of clients with another
    /// clock.
    fileprivate func clockWarning(_ offset: Duration) -> JSON.Member? {
        guard behaviors.secretClock == .moved, abs(offset.components.seconds) > 60 else {
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
