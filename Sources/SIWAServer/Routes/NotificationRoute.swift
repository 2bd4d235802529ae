internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

extension Route {
    /// `POST /apple/notifications`: receives Apple's notifications.
    static func receiveNotification(at path: String) -> Route {
        Route(
            .post, PathTemplate(path), scope: .open, "Receives a notification from Apple.",
            mediaTypes: []
        ) { (request, context) async throws(Problem) -> ServerResponse in
            let answer = await context.receiver.receive(request.http.body)
            if let status = answer.refusal {
                // The response has no body, so that it reveals nothing to a forger.
                throw Problem(
                    status, recorded: answer.result, answer.detail,
                    retryAfter: status == .unavailable ? .seconds(10) : nil)
            }
            context.log(answer, request)
            return ServerResponse(status: 200)
        }
    }
}

extension ServerLog {
    /// Logs a received notification. Refused ones are logged as requests.
    fileprivate func callAsFunction(
        _ answer: NotificationReceiver.Answer, _ request: RouteRequest
    ) {
        var members: [JSON.Member] = [
            .init("request_id", .string(request.id)), .init("result", .string(answer.result)),
        ]
        if let event = answer.event?.event {
            members += [
                .init("jti", .string(event.id.rawValue)), .init("type", .string(event.type)),
            ]
        }
        let line = ServiceEvent(
            .info, "notification", members,
            about: answer.event.map { LogSubject($0.event.user) } ?? LogSubject())
        // Anyone who has a genuine payload can post it again and again.
        guard answer.result != "received" else { return self(line) }
        self(
            line,
            limitedAs: [.init("of", "notification"), .init("result", .string(answer.result))])
    }
}
