internal import HTTPServer
internal import JOSE
internal import Lifecycle
internal import ServerRecords

extension Route {
    /// `POST /apple/notifications`: receives Apple's notifications.
    static func receiveNotification(at path: String) -> Route {
        Route(
            .post, PathTemplate(path), scope: .open, "Receives a notification from Apple.",
            mediaTypes: []
        ) { (request, context) async throws(Problem) -> ServerResponse in
            let answer = await context.receiver.receive(request.http.body)
            guard answer.status == 200 else {
                // The response has no body, so that it reveals nothing to a forger.
                throw Problem(
                    answer.status, answer.result, answer.detail,
                    retryAfter: answer.status == 503 ? .seconds(10) : nil)
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
        if let event = answer.event {
            members += [
                .init("jti", .string(event.id.rawValue)), .init("type", .string(event.type)),
                .init("client_id", .string(event.user.clientID.rawValue)),
                .init("user_id", .string(event.user.userID.rawValue)),
            ]
        }
        let line = ServiceEvent(.info, "notification", members)
        // Anyone who has a genuine payload can post it again and again.
        guard answer.result != "received" else { return self(line) }
        self(
            line,
            limitedAs: [.init("of", "notification"), .init("result", .string(answer.result))])
    }
}
