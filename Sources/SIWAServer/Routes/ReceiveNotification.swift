internal import HTTPServer
internal import JOSE
internal import Lifecycle
internal import ServerRecords

extension Route {
    /// `POST /apple/notifications`: takes what Apple posts.
    static func receiveNotification(at path: String) -> Route {
        Route(
            .post, PathTemplate(path), scope: .open, "Receive a notification of Apple's.",
            mediaTypes: []
        ) { request, context in
            let answer = await context.receiver.receive(request.http.body)
            context.log(answer, request)
            return ServerResponse(
                status: answer.status,
                fields: answer.status == 503 ? [HTTPField("Retry-After", "10")] : [])
        }
    }
}

extension ServerLog {
    /// A notification was received: what is refused is logged with its request.
    fileprivate func callAsFunction(
        _ answer: NotificationReceiver.Answer, _ request: RouteRequest
    ) {
        var members: [JSON.Member] = [
            .init("request_id", .string(request.id)), .init("result", .string(answer.result)),
            .init("status", .integer(answer.status)),
        ]
        if let event = answer.event {
            members += [
                .init("jti", .string(event.id.rawValue)), .init("type", .string(event.type)),
                .init("client_id", .string(event.user.clientID.rawValue)),
                .init("user_id", .string(event.user.userID.rawValue)),
            ]
        }
        self(answer.status == 200 ? .info : .warning, "notification", members)
    }
}
