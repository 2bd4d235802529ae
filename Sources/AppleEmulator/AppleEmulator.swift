public import SignInWithApple

/// A strict Apple in memory: one state machine, reached through a socket or from a test.
///
/// An actor, so that of two hundred parallel exchanges of one code exactly one succeeds.
public actor AppleEmulator {
    let configuration: EmulatorConfiguration
    let keys: EmulatorKeys
    let clock: @Sendable () -> NumericDate
    /// Nil when notifications go nowhere.
    let courier: Courier?
    var service: Service
    var faults = FaultQueue()
    var log = RequestLog()
    var notifications = LatestItems<NotificationRecord>(limit: 200)
    var history = LatestItems<ControlRecord>(limit: 50)
    /// Where notifications go that name no address of their own.
    var receiver: String?
    /// How far the emulator's time is ahead of `clock`.
    var clockOffset = Duration.zero
    /// What the forms of the console must bring back; no other page can read it.
    let consoleToken = Fresh.text(32, of: Fresh.alphanumeric)
    var bell = ChangeBell()

    /// Starts with nothing issued.
    ///
    /// - Parameters:
    ///   - clock: Where time comes from before a control request moves it.
    ///   - transport: Posts notifications to their receivers; nil for an emulator that sends none.
    ///   - timekeeper: Waits between attempts to do so.
    public init(
        configuration: EmulatorConfiguration, keys: EmulatorKeys,
        clock: @escaping @Sendable () -> NumericDate,
        posting transport: (any Transport)? = nil, timekeeper: Timekeeper = .system
    ) {
        self.configuration = configuration
        self.keys = keys
        self.clock = clock
        receiver = configuration.notificationURL
        courier = transport.map { Courier(transport: $0, timekeeper: timekeeper) }
        service = Service(configuration: configuration, keys: keys, clock: clock)
    }

    /// Answers one request; requests to Apple's paths are written down.
    public func respond(to request: EmulatorRequest) async -> EmulatorReply {
        let requestID = Fresh.requestID()
        if let reply = await answerForPeopleAndPrograms(request, requestID) { return reply }
        let fault = faults.next(for: request.path)
        let form = FormReading { () throws(Refusal) in try ReceivedForm(request) }
        let answer = answer(request, form, fault)
        let page = fault?.apply(to: answer.page) ?? answer.page
        let checks = fault?.reachesApple ?? true ? service.examination.checks : []
        let (teamID, now) = (service.owner.teamID, service.now())
        log.append(
            {
                RequestRecord(
                    number: $0, requestID: requestID, at: now, request, form, answer, fault, checks)
            },
            details: RequestDetails(
                request, form, page, teamID: teamID, at: service.timeOfSecrets))
        bell.ring()
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

    /// Adds what Apple's edge adds. `Date` follows the emulator's clock, so that a client
    /// can see how far its own is off.
    func respond(with page: Page, _ requestID: String) -> HTTPResponse {
        let edge = [
            HTTPField("Server", "Apple"), HTTPField("Date", service.now().httpDate),
            HTTPField("X-Apple-I-Request-ID", requestID),
        ]
        let own = edge.filter { page.fields[$0.name] == nil }
        return HTTPResponse(status: page.status, fields: own + page.fields, body: page.body)
    }
}
