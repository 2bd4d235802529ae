internal import SignInWithApple

/// The way to Apple, stage by stage, by one request for its key set.
struct NetworkCheckup: Sendable {
    let lines: [CheckLine]
    /// Whether an answer came: without one there is no use in asking more.
    let isReachable: Bool

    init(_ patient: Patient, _ network: Network) async {
        let elapsed = patient.world.clocks.timekeeper.elapsed
        let start = elapsed()
        let probe = Probe(baseURL: network.baseURL, delivery: network.delivery)
        do {
            let response = try await probe.keys()
            let taken = elapsed() - start
            isReachable = true
            lines =
                Self.way(to: network.baseURL, answer: "after \(taken.inSeconds)")
                + [Self.clock(response, patient, network.baseURL), Self.keySet(response)]
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
            case .dns: CheckLine(stage.rawValue, .ok, "the host of \(url) was found")
            case .connection: CheckLine(stage.rawValue, .ok, "stands")
            case .tls: tls(url)
            case .answer: CheckLine(stage.rawValue, .ok, answer)
            }
        }
    }

    private static func tls(_ url: BaseURL) -> CheckLine {
        url.description.hasPrefix("http://")
            ? CheckLine("tls", .skipped, "plain http, which only loopback is allowed")
            : CheckLine("tls", .ok, "1.2 or newer; certificate chain and host name verified")
    }

    /// What failed, what stood before it, and what was not reached.
    private static func way(to url: BaseURL, failing failure: TokenFailure) -> [CheckLine] {
        let diagnosis = Diagnosis(RequestError(failure: failure, situation: nil))
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
        _ response: HTTPResponse, _ patient: Patient, _ server: BaseURL
    ) -> CheckLine {
        guard let offset = response.clockOffset(at: patient.now) else {
            return CheckLine("clock", .skipped, "the answer has no Date")
        }
        let lifetime = patient.client?.client.secretLifetime ?? .seconds(300)
        if let finding = Finding.clock(off: offset, secretLifetime: lifetime, server: server) {
            return CheckLine("clock", finding)
        }
        let seconds = offset.components.seconds
        let seen =
            "\(seconds.magnitude) s \(seconds < 0 ? "ahead of" : "behind") Apple's"
        guard seconds.magnitude > 5 else {
            return CheckLine("clock", .ok, seconds == 0 ? "as Apple's" : seen)
        }
        return CheckLine(
            "clock", .warning, seen,
            advice: "set it: what is not dated back by a minute, as siwa's secrets are, may fail")
    }

    private static let lookForProxy = "look for a proxy or a captive portal, and at base_url"

    private static func keySet(_ response: HTTPResponse) -> CheckLine {
        guard let set = KeySet(response.body) else {
            return CheckLine(
                "key_set", .failed, "what came is no key set (\(response.status))",
                advice: lookForProxy)
        }
        let names = set.keys.keys.sorted().joined(separator: ", ")
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

    /// Nil when nothing was tried.
    fileprivate var stage: NetworkCheckup.Stage? {
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
