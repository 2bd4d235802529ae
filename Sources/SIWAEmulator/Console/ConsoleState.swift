internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

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
    /// What the shown requests contain; empty for all.
    let requestSearch: String
    /// Part of a name or address by which users are searched.
    let userSearch: String
    /// The latest request that a browser knows, for the events.
    let lastRequest: Int
    let instance: String?
    /// Whether the page reloads itself without scripts.
    let reloads: Bool

    /// The address of the page with that part of its query, and the search if there is one.
    static func address(_ query: [(String, String)], search: String) -> String {
        let all = query + (search.isEmpty ? [] : [("find", search)])
        guard !all.isEmpty else { return ConsoleRoute.root }
        let form = Form(all.map { ($0.0, .plain($0.1)) }).encoded().revealed()
        return "\(ConsoleRoute.root)?" + String(decoding: form, as: UTF8.self)
    }

    init(_ request: EmulatorRequest) throws(ControlError) {
        guard let query = try? ReceivedForm(request) else {
            throw ControlError("the query is not percent-encoded as it must be")
        }
        onlyRefused = query["show"] == "refused"
        openRequest = query["open"].flatMap { Int($0) }
        requestSearch = (query["find"] ?? "").clipped
        userSearch = (query["user"] ?? "").clipped
        lastRequest = query["after"].flatMap { Int($0) } ?? 0
        instance = query["instance"]
        reloads = query["reload"] != "off" && openRequest == nil
    }
}
