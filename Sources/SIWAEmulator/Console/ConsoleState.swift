internal import SIWAJOSE

/// What the console shows: a snapshot of the emulator.
struct ConsoleState {
    let service: Service
    let faults: FaultQueue
    let log: RequestLog
    let notifications: LatestItems<NotificationRecord>
    let history: LatestItems<ControlRecord>
    let receiver: String?
    let clockOffset: Duration
    /// Identifies this start of the emulator.
    let instance: String
    /// The origin of the server as the browser knows it.
    let origin: String
    /// The token that the page's forms send back.
    let token: String

    var configuration: EmulatorConfiguration { service.configuration }
    var now: NumericDate { service.now() }
}

/// What the query of the page selects.
struct ConsoleView {
    /// Whether only refused requests are shown.
    let onlyRefused: Bool
    /// The request that is open without a script.
    let openRequest: Int?
    /// Part of a name or address by which users are searched.
    let userSearch: String
    /// The latest request that a browser knows, for the events.
    let lastRequest: Int
    let instance: String?
    /// Whether the page reloads itself without scripts.
    let reloads: Bool

    init(_ request: EmulatorRequest) throws(ControlError) {
        guard let query = try? ReceivedForm(request) else {
            throw ControlError("the query is not percent-encoded as it must be")
        }
        onlyRefused = query["show"] == "refused"
        openRequest = query["open"].flatMap { Int($0) }
        userSearch = (query["user"] ?? "").clipped
        lastRequest = query["after"].flatMap { Int($0) } ?? 0
        instance = query["instance"]
        reloads = query["reload"] != "off" && openRequest == nil
    }
}
