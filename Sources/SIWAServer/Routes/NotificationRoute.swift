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
            mediaTypes: [],
            atOnce: { request, context throws(Problem) in
                let receiver = context.receiver
                switch receiver.judge(request.http.body) {
                case nil: return nil
                case .refused(let answer)?:
                    return .response(try answer.response(to: request, context))
                case .genuine(let event, let kind)?:
                    return .promised { reply in
                        receiver.commit(event, kind, on: reply.perform) { answer in
                            reply.send(
                                Result { () throws(Problem) in
                                    try answer.response(to: request, context)
                                })
                        }
                    }
                }
            },
            handle: { request, context throws(Problem) in
                let answer = await context.receiver.receive(request.http.body)
                return try answer.response(to: request, context)
            })
    }
}

extension NotificationReceiver.Answer {
    /// Logs the answer.
    fileprivate func response(
        to request: RouteRequest, _ context: ServerContext
    ) throws(Problem) -> ServerResponse {
        if let refusal {
            // The response has no body, so that it reveals nothing to a forger.
            throw Problem(
                refusal, recorded: result, detail,
                retryAfter: refusal == .unavailable ? .seconds(10) : nil)
        }
        context.log(self, request)
        return ServerResponse(status: 200)
    }
}

extension ServerLog {
    /// Logs a received notification. Refused ones are logged as requests.
    fileprivate func callAsFunction(
        _ answer: NotificationReceiver.Answer, _ request: RouteRequest
    ) {
        var members: [JSON.Member] = []
        members.reserveCapacity(4)
        members.append(.init("request_id", .string(request.id)))
        members.append(.init("result", .string(answer.result)))
        if let event = answer.event?.event {
            members.append(.init("jti", .string(event.id.rawValue)))
            members.append(.init("type", .string(event.type)))
        }
        let line = ServiceEvent(
            .info, "notification", members,
            about: answer.event.map { LogSubject($0.event.user) } ?? LogSubject())
        // Anyone who has a genuine payload can post it again and again.
        guard answer.result != "received" else { return later(line) }
        self(
            line,
            limitedAs: [.init("of", "notification"), .init("result", .string(answer.result))])
    }
}
