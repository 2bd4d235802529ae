package import SIWAJOSE
package import SIWALifecycle

/// A strict Apple in memory: one state machine, reached through a socket or from a test.
///
/// An actor: exactly one of many parallel exchanges of the same code succeeds.
package actor AppleEmulator {
    let configuration: EmulatorConfiguration
    let keys: EmulatorKeys
    let source: SeededSource
    let clock: @Sendable () -> NumericDate
    /// Nil if notifications are not posted.
    let sender: WebhookSender?
    var service: Service
    var faults = FaultQueue()
    var log = RequestLog()
    var notifications = LatestItems<NotificationRecord>(limit: AppleEmulator.notificationsLimit)
    var history = LatestItems<ControlRecord>(limit: 50)
    /// The deliveries that wait or run; a reset cancels them.
    var deliveryTasks: [String: Task<[WebhookSender.Attempt], Never>] = [:]
    /// The receiver of notifications without a `url`.
    var receiver: String?
    /// How far the emulator's time is ahead of `clock`.
    var clockOffset = Duration.zero
    /// The token that the forms of the console must send back; no other page can read it.
    let consoleToken = Fresh.text(32)
    /// Identifies this start of the emulator, and each state after a reset, for readers of the log.
    var instance = Fresh.text(12)
    /// Random numbers that are the same after every start: they decide when notifications are
    /// delivered.
    var random = SplitMix64()
    var requestIDs: RandomStream
    let changes = WakeSignal()

    static let notificationsLimit = 10_000

    /// Starts with nothing issued.
    ///
    /// - Parameters:
    ///   - source: Where the random numbers of codes, tokens and ids come from.
    ///   - clock: Where time comes from before a control request moves it.
    ///   - transport: Posts notifications to their receivers; nil disables posting.
    ///   - timekeeper: Waits between attempts to do so.
    package init(
        configuration: EmulatorConfiguration, keys: EmulatorKeys,
        random source: SeededSource = SeededSource(seed: nil),
        clock: @escaping @Sendable () -> NumericDate,
        posting transport: (any Transport)? = nil, timekeeper: Timekeeper = .system
    ) {
        self.configuration = configuration
        self.keys = keys
        self.source = source
        requestIDs = source.stream("request ids")
        self.clock = clock
        receiver = configuration.notificationURL
        sender = transport.map { WebhookSender(transport: $0, timekeeper: timekeeper) }
        service = Service(
            configuration: configuration, keys: keys, random: source, clock: clock)
    }

    /// Starts with keys, codes, tokens and ids that are the same for the same `seed`; nil for new
    /// ones, whose keys take a moment.
    ///
    /// - Throws: ``OpenSSLError`` if no key can be made.
    package static func seeded(
        _ seed: UInt64?, configuration: EmulatorConfiguration,
        clock: @escaping @Sendable () -> NumericDate,
        posting transport: (any Transport)? = nil, timekeeper: Timekeeper = .system
    ) async throws -> AppleEmulator {
        let source = SeededSource(seed: seed)
        let keys =
            seed == nil ? try await EmulatorKeys.generate() : try EmulatorKeys.seeded(source)
        return AppleEmulator(
            configuration: configuration, keys: keys, random: source, clock: clock,
            posting: transport, timekeeper: timekeeper)
    }

    /// Answers one request; requests to Apple's paths are recorded.
    package func respond(to request: EmulatorRequest) async -> EmulatorReply {
        if let reply = await answerConsoleOrControl(request) { return reply }
        let requestID = requestIDs.requestID()
        let fault = faults.next(for: request.path)
        let form = FormReading { () throws(Refusal) in try ReceivedForm(request) }
        let answer = answer(request, form, fault)
        let page = fault?.apply(to: answer.page) ?? answer.page
        let examination = fault?.reachesApple ?? true ? service.examination : Examination()
        let (teamID, now) = (service.owner.teamID, service.now())
        log.append(
            {
                RequestRecord(
                    number: $0, requestID: requestID, at: now, request, form, answer, fault,
                    examination)
            },
            details: RequestDetails(
                request, form, page, teamID: teamID, at: service.timeOfSecrets))
        changes.notify()
        return EmulatorReply(
            respond(with: page, requestID), delay: fault?.delay ?? .zero, cut: fault?.cut)
    }

    private func answer(
        _ request: EmulatorRequest, _ form: FormReading, _ fault: Fault?
    ) -> Answer {
        guard fault?.reachesApple ?? true else {
            return Answer(.nothing, because: "never reached Apple")
        }
        return service.answer(request, form)
    }

    /// Adds the header fields that Apple's edge adds. `Date` follows the emulator's clock, so that
    /// a client can see how far off its own clock is.
    func respond(with page: Page, _ requestID: String) -> HTTPResponse {
        let edge = [
            HTTPField("Server", "Apple"), HTTPField("Date", service.now().httpDate),
            HTTPField("X-Apple-I-Request-ID", requestID),
        ]
        let own = edge.filter { page.fields[$0.name] == nil }
        return HTTPResponse(status: page.status, fields: own + page.fields, body: page.body)
    }
}
