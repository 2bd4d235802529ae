internal import SIWAJOSE
internal import SIWALifecycle

/// What a path under `/emulator` means: the console for people, or the control for programs.
enum ConsoleRoute {
    case page
    case style
    case script
    /// The console's changes as server-sent events.
    case events
    /// One request, opened.
    case request(Int)
    /// Everything else: a control request, in JSON or as a form of the page.
    case control

    static let root = "/emulator"

    /// Nil if the path is one of Apple's.
    init?(_ request: EmulatorRequest) {
        let path = request.path
        guard path == Self.root || path.hasPrefix(Self.root + "/") else { return nil }
        let isLookedAt = request.method == "GET"
        switch path.dropFirst(Self.root.count) {
        case "", "/": self = .page
        case "/console.css" where isLookedAt: self = .style
        case "/console.js" where isLookedAt: self = .script
        case "/events" where isLookedAt: self = .events
        case let rest where isLookedAt && rest.hasPrefix("/requests/"):
            guard let number = Int(rest.dropFirst("/requests/".count)) else {
                self = .control
                return
            }
            self = .request(number)
        default: self = .control
        }
    }
}

// Everything under /emulator, and the redirect from `/` to it.
extension AppleEmulator {
    /// The path of the console.
    package static let consolePath = ConsoleRoute.root

    /// Answers a request that is not for one of Apple's paths; nil if it is.
    func answerConsoleOrControl(
        _ request: EmulatorRequest
    ) async -> EmulatorReply? {
        let requestID = Fresh.requestID()
        guard let route = ConsoleRoute(request) else {
            return leadsToConsole(request)
                ? EmulatorReply(respond(with: .seeOther(ConsoleRoute.root), requestID)) : nil
        }
        do {
            try ControlGate.check(request)
            if case .events = route { return try events(for: request, requestID) }
            return EmulatorReply(respond(with: try await page(route, request), requestID))
        } catch {
            let refusal = ControlError(error)
            return EmulatorReply(
                respond(with: request.wantsPage ? refusal.document : refusal.page, requestID))
        }
    }

    /// Whether a browser opened `http://localhost:…/`, a path that Apple does not have.
    private func leadsToConsole(_ request: EmulatorRequest) -> Bool {
        request.path == "/" && request.method == "GET" && request.wantsPage
            && (try? ControlGate.check(request)) != nil
    }

    private func page(_ route: ConsoleRoute, _ request: EmulatorRequest) async throws -> Page {
        switch route {
        case .page:
            guard request.method == "GET" else {
                throw ControlError(status: 405, "must be GET")
            }
            return ConsolePage(state: consoleState(request.origin), view: try ConsoleView(request))
                .page
        case .style: return .asset(ConsoleStyle.source, type: "text/css")
        case .script: return .asset(ConsoleScript.source, type: "text/javascript")
        case .request(let number):
            guard let found = log.request(number) else {
                throw ControlError(status: 404, "request \(number) is forgotten or never came")
            }
            let detail = RequestDetailView(
                found.record, found.details, consoleState(request.origin))
            return .fragment(detail.html)
        case .control, .events: return try await control(request)
        }
    }

    private func control(_ request: EmulatorRequest) async throws -> Page {
        let control = try Control(request)
        guard request.isFromBrowser, request.method == "POST" else {
            let body = try request.controlBody()
            let answer = try await carryOut(control, body, isFromConsole: false)
            return body["format"] == .string(Seed.Format.lines.rawValue) && control == .seed
                ? .lines(answer) : .json(answer)
        }
        let form = try ConsoleForm(request)
        try ControlGate.check(form.token, is: consoleToken)
        let answer = try await carryOut(control, try form.body(), isFromConsole: true)
        return request.wantsPage ? ConsolePage.done(control, answer) : .json(answer)
    }

    /// The current content of the console.
    func consoleState(_ origin: String) -> ConsoleState {
        ConsoleState(
            service: service, faults: faults, log: log, notifications: notifications,
            history: history, receiver: receiver, clockOffset: clockOffset,
            instance: instance, origin: origin, token: consoleToken)
    }
}

extension ControlError {
    /// Any error of a control request.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as ControlError: error
            case let error as ShapeError: ControlError(error.description)
            default: ControlError(status: 500, "the emulator itself failed: \(error)")
            }
    }

    /// The error for a person without scripts.
    var document: Page {
        Document(
            title: "That did not work",
            content: """
                <p class="lead">\(message)</p>
                <p><a class="button" href="\(ConsoleRoute.root)">Back to the console</a></p>
                """
        ).page(status: status)
    }
}

extension EmulatorRequest {
    /// Whether the answer is shown to a person; the console's script asks for JSON.
    var wantsPage: Bool {
        (fields["accept"] ?? "").split(separator: ",").contains { $0.hasPrefix("text/html") }
    }
}
