internal import SIWAApplication
internal import SIWADiagnosis
internal import SIWAJOSE
internal import SIWALifecycle

/// Checks the connection to Apple, stage by stage, with one request for its key set.
struct NetworkCheck: Sendable {
    let lines: [CheckLine]
    /// Whether a response was received; without one, further checks are skipped.
    let isReachable: Bool

    init(_ context: DoctorContext, _ network: AppleConnection) async {
        let elapsed = context.world.clocks.timekeeper.elapsed
        let start = elapsed()
        let probe = Probe(baseURL: network.baseURL, delivery: network.delivery)
        do {
            let response = try await probe.keys()
            let end = elapsed()
            let skew = ClockSkew(response, sentAt: start, answeredAt: end)
                .map { $0.time(at: end) - context.now }
            isReachable = true
            lines =
                Self.way(to: network.baseURL, answer: "responded in \((end - start).measured)")
                + [Self.clock(skew, context, network.baseURL), Self.keySet(response)]
        } catch {
            isReachable = error.isAnswered
            lines = Self.way(to: network.baseURL, failing: error)
        }
    }

    fileprivate enum Stage: String, CaseIterable {
        case dns
        case connection
        case tls
        case answer
    }

    private static func way(to url: BaseURL, answer: String) -> [CheckLine] {
        Stage.allCases.map { stage in
            switch stage {
            case .dns: CheckLine(stage.rawValue, .ok, "the host name of \(url) was resolved")
            case .connection: CheckLine(stage.rawValue, .ok, "connected")
            case .tls: tls(url)
            case .answer: CheckLine(stage.rawValue, .ok, answer)
            }
        }
    }

    private static func tls(_ url: BaseURL) -> CheckLine {
        url.description.hasPrefix("http://")
            ? CheckLine("tls", .skipped, "plain HTTP, allowed on loopback only")
            : CheckLine("tls", .ok, "1.2 or newer; certificate chain and host name verified")
    }

    /// The stage that failed, those before it that passed, and those that were not reached.
    private static func way(to url: BaseURL, failing failure: TokenFailure) -> [CheckLine] {
        let diagnosis = Diagnosis(RequestError(failure: failure, context: nil))
        let fault = CheckLine(
            failure.stage?.rawValue ?? "network", .failed, diagnosis.message,
            advice: diagnosis.hints.first ?? lookForProxy)
        guard let stage = failure.stage, let place = Stage.allCases.firstIndex(of: stage) else {
            return [fault]
        }
        let passed = way(to: url, answer: "").prefix(place)
        let unreached = Stage.allCases.dropFirst(place + 1).map {
            CheckLine($0.rawValue, .skipped, "not reached")
        }
        return passed + [fault] + unreached
    }

    private static func clock(
        _ skew: Duration?, _ context: DoctorContext, _ server: BaseURL
    ) -> CheckLine {
        guard let offset = skew else {
            return CheckLine(
                "clock", .skipped,
                "the response came from a cache, took over 5 seconds, or has no Date header")
        }
        let lifetime = context.client?.client.secretLifetime ?? .seconds(300)
        if let finding = Finding.clock(off: offset, secretLifetime: lifetime, server: server) {
            return CheckLine("clock", finding)
        }
        guard offset.isWrongClock else {
            return CheckLine(
                "clock", .ok,
                offset == .zero ? "in sync with Apple" : offset.clockDifference)
        }
        return CheckLine(
            "clock", .warning, offset.clockDifference,
            advice: "set the clock: siwa sets iat one minute back, but other software may not")
    }

    private static let lookForProxy = "check for a proxy or a captive portal, and check base_url"

    private static func keySet(_ response: HTTPResponse) -> CheckLine {
        guard let set = KeySet(response.body) else {
            return CheckLine(
                "key_set", .failed, "the response is not a key set (\(response.status))",
                advice: lookForProxy)
        }
        let names = set.keyIDs.joined(separator: ", ")
        return CheckLine("key_set", .ok, "\(set.keys.count) keys: \(names)")
    }
}

extension TokenFailure {
    fileprivate var isAnswered: Bool {
        switch cause {
        case .refused, .unusable: true
        case .unreachable, .unminted: false
        }
    }

    /// Nil if no request was sent.
    fileprivate var stage: NetworkCheck.Stage? {
        guard case .unreachable(let error) = cause else { return .answer }
        return switch error.kind {
        case .unavailable, .resources, .cancelled: nil
        case .nameLookup: .dns
        case .connect, .proxy: .connection
        case .tls, .certificate, .authorities: .tls
        case .timeout: error.requestMayHaveLeft ? .answer : .connection
        case .cut, .malformed, .tooLarge: .answer
        }
    }
}
