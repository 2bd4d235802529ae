internal import SIWAJOSE

// K: how often the backend asks for Apple's keys, and what it does when it gets none.
extension ConformRun {
    private static let count = 30

    func checkTraffic() async throws {
        let verifying = flows.first { channels[$0] != .exchange }
        let reason: CheckResult.Skip? = verifying == nil ? .pointless(Self.signatureUnseen) : nil
        let flow = verifying ?? .native
        try await check("K01", verifying, skip: reason) {
            [try await fetches(flow, nil, atMost: 5, "\(Self.count) good sign-ins")]
        }
        try await check("K02", verifying, skip: reason) {
            let comment = "\(Self.count) tokens with invented kids"
            return [try await fetches(flow, Self.unknownKey("K02"), atMost: 10, comment)]
        }
        try await check("K03", verifying, skip: reason) { try await failingKeys(flow) }
    }

    private static func unknownKey(_ id: String) -> BadToken {
        .forged(id, "an invented kid") { good in
            [("kid", .string(try good.bytes(for: "kid").prefix(5).hexadecimal))]
        }
    }

    /// How often the key set is fetched for some sign-ins.
    private func fetches(
        _ flow: Flow, _ token: BadToken?, atMost limit: Int, _ comment: String
    ) async throws -> CheckResult.Variant {
        let before = try await latestRequest()
        for _ in 0..<Self.count {
            if let token {
                _ = try await signIn(flow, newUser(), Deviation(token: token), for: comment)
            } else {
                _ = try await good(flow, newUser())
            }
        }
        let found = try await requests(after: before, "/auth/keys").count
        return CheckResult.Variant(
            comment: comment, outcome: "the key set was fetched \(found) times", status: nil,
            isWrong: found > limit)
    }

    /// The answers while the key set cannot be had, and the next good sign-in.
    private func failingKeys(_ flow: Flow) async throws -> [CheckResult.Variant] {
        let faults: [(String, JSON)] = [
            ("the key set comes 3 seconds late", ["endpoint": "/auth/keys", "delay": "3s"]),
            ("the key set is a 503", ["endpoint": "/auth/keys", "status": 503]),
            (
                "the key set is a page of HTML",
                ["endpoint": "/auth/keys", "status": 200, "page": "html"]
            ),
        ]
        var variants: [CheckResult.Variant] = []
        patience = .seconds(35)
        defer { patience = nil }
        let end = ContinuousClock.now + .seconds(65)
        for (comment, fault) in faults {
            _ = try await apple.control("faults", fault.changed([("count", 10)]))
            let (attempt, isFetched) = try await provokeFetch(flow, "K03: \(comment)", until: end)
            _ = try await apple.control("faults/clear")
            let isBare = (attempt.status ?? 0) >= 500 && attempt.body.isEmpty
            let isUnanswered = attempt.verdict == .slow || attempt.verdict == .cut
            variants.append(
                CheckResult.Variant(
                    comment: comment,
                    outcome: attempt.outcome + (isFetched ? "" : "; the keys were not fetched"),
                    status: attempt.status,
                    isWrong: isBare || isUnanswered || attempt.isSignedIn))
        }
        return variants
    }

    /// Sends tokens with invented kids until the backend asks for the keys: it may have just done so.
    private func provokeFetch(
        _ flow: Flow, _ comment: String, until end: ContinuousClock.Instant
    ) async throws -> (attempt: Attempt, isFetched: Bool) {
        while true {
            let before = try await latestRequest()
            let kept = manners
            let attempt = try await signIn(
                flow, newUser(), Deviation(token: Self.unknownKey("K03")), for: comment)
            manners = kept.excusing(manners)
            let isFetched = try await !requests(after: before, "/auth/keys").isEmpty
            if isFetched || ContinuousClock.now >= end { return (attempt, isFetched) }
            try await Task.sleep(for: .seconds(1))
        }
    }
}
