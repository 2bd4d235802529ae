internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// How an endpoint answers notifications.
struct AnswerCheck: Sendable {
    let url: EndpointURL
    let emulator: BaseURL?
    let context: DoctorContext
    let network: AppleConnection

    private struct Answer {
        let status: Int
        let location: String?
        /// Whether it is a page for people, as proxies answer.
        let isPage: Bool
        /// Whether it asks for a name and a password, which Apple does not have.
        let asksForPassword: Bool
        let time: Duration
    }

    /// - Parameter earlier: the lines of the checks before.
    func lines(after earlier: [CheckLine]) async -> [CheckLine] {
        let forged: Answer
        do {
            let notification = try ForgedNotification(
                for: try? context.clientID.get(), keyID: await anyKeyID(), at: context.now)
            forged = try await post(notification.body)
        } catch let error as TransportError {
            // An invalid certificate was reported by an earlier check.
            return earlier.contains { $0.status == .failed && $0.name != Self.urlName }
                ? [] : [Self.unanswered(.forged, error)]
        } catch {
            return [CheckLine(.forged, .failed, "no notification can be made: \(error)")]
        }
        guard !(300..<400).contains(forged.status) else { return [Self.redirect(forged)] }
        let (signed, answer) = await signed()
        return [
            CheckLine(.redirect, .ok, "answered at this URL"), Self.forged(forged), signed,
            Self.time((answer ?? forged).time),
        ]
    }

    private static let urlName = EndpointCheck.Stage.url.rawValue

    // MARK: Requests

    private func post(_ body: SecretBytes) async throws(TransportError) -> Answer {
        let elapsed = context.world.clocks.timekeeper.elapsed
        let start = elapsed()
        let response = try await network.transport.send(
            HTTPRequest(
                method: .post, url: url.text,
                fields: [
                    HTTPField("Content-Type", "application/json"),
                    HTTPField("User-Agent", "siwa/\(version)"),
                ], body: body),
            timeout: min(network.deadline.remaining, Self.timeout))
        return Answer(
            status: response.status, location: response.fields["Location"],
            isPage: response.fields["Content-Type"]?.lowercased().hasPrefix("text/html") == true,
            asksForPassword: response.fields["WWW-Authenticate"]?.lowercased().hasPrefix("basic")
                == true, time: elapsed() - start)
    }

    private static let timeout = Duration.seconds(15)

    /// The id of a key that the endpoint knows; nil if the key set cannot be fetched.
    private func anyKeyID() async -> String? {
        let clocks = context.world.clocks
        let delivery = Delivery(
            through: network.transport, policy: RetryPolicy(maxAttempts: 1),
            until: Deadline(after: .seconds(5), by: clocks.timekeeper), clocks: clocks)
        let response = try? await Probe(
            baseURL: emulator ?? network.baseURL, delivery: delivery
        ).keys()
        return response.flatMap { KeySet($0.body) }?.keyIDs.first
    }

    /// A notification that the emulator signs.
    private func genuine(from emulator: BaseURL) async throws -> SecretBytes {
        let client = (try? context.clientID.get()).map {
            [JSON.Member("client_id", .string($0.rawValue))]
        }
        let order = JSON.object([JSON.Member("type", "email-disabled")] + (client ?? []))
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await network.transport.send(
                HTTPRequest(
                    method: .post, url: "\(emulator)/emulator/notifications",
                    fields: [HTTPField("Content-Type", "application/json")],
                    body: SecretBytes(order.bytes)), timeout: Self.timeout)
        } catch {
            throw EmulatorError(description: error.seen)
        }
        let answer = try? JSON(response.body)
        guard let payload = answer?["payload"] else {
            throw EmulatorError(
                description: answer?["error_description"]?.string
                    ?? "it answered \(response.status)")
        }
        return SecretBytes((["payload": payload] as JSON).bytes)
    }

    private struct EmulatorError: Error, CustomStringConvertible {
        let description: String
    }

    // MARK: Lines

    private static func unanswered(
        _ stage: EndpointCheck.Stage, _ error: TransportError
    ) -> CheckLine {
        CheckLine(
            stage, .failed, "not answered: \(error.seen)",
            advice: "check the reverse proxy and the process behind it")
    }

    private static func redirect(_ answer: Answer) -> CheckLine {
        CheckLine(
            .redirect, .failed,
            "\(answer.status), to \(answer.location ?? "no address")",
            advice:
                "Apple does not follow redirects: enter the URL that answers, and check that again"
        )
    }

    private static func forged(_ answer: Answer) -> CheckLine {
        switch answer.status {
        case 404, 405:
            CheckLine(
                .forged, .failed, "answered \(answer.status): no endpoint takes POST at this path",
                advice: "check the path; siwa-server has it in server.notifications.path")
        case 407, 408, 411, 413, 414, 421, 429, 431:
            CheckLine(
                .forged, .failed,
                "answered \(answer.status), which is no answer to a forged notification",
                advice: """
                    look at the log and the limits of the proxy (in nginx client_max_body_size, \
                    limit_req): it refuses what Apple posts, too
                    """)
        case 401 where answer.asksForPassword:
            CheckLine(
                .forged, .failed, "answered 401, and asks for a password",
                advice: "let the proxy ask for no password at this path: Apple has none")
        case 400..<500 where answer.isPage:
            CheckLine(
                .forged, .warning,
                "refused with \(answer.status) in a page, which siwa-server does not send",
                advice: """
                    if siwa-server is behind this URL, the proxy refuses what Apple posts, too: its \
                    log says why
                    """)
        case 401: CheckLine(.forged, .ok, "refused with 401")
        case 400..<500:
            CheckLine(
                .forged, .warning,
                "refused with \(answer.status); siwa-server refuses it with 401",
                advice: """
                    if siwa-server is behind this URL, the proxy refuses or changes what Apple posts: \
                    its log says why; another receiver may answer so
                    """)
        case 200..<300:
            CheckLine(
                .forged, .failed,
                "answered \(answer.status): your endpoint accepts forged notifications",
                advice: """
                    verify the signature with Apple's keys before you believe a notification; \
                    siwa-server answers so only while it cannot fetch Apple's keys (see /readyz)
                    """)
        case 502, 504:
            CheckLine(
                .forged, .failed, "answered \(answer.status): the proxy gets no answer",
                advice: "siwa-server does not run, or the proxy has another address for it")
        default:
            CheckLine(
                .forged, .failed, "answered \(answer.status), in place of 4xx",
                advice:
                    "look at the log of the endpoint: a forged notification must not be a failure")
        }
    }

    private func signed() async -> (CheckLine, Answer?) {
        guard let emulator else {
            return (
                CheckLine(
                    .signed, .skipped,
                    "only Apple and emulators sign notifications: --emulator URL asks one"), nil
            )
        }
        do {
            let answer = try await post(try await genuine(from: emulator))
            return (Self.signed(answer), answer)
        } catch let error as TransportError {
            return (Self.unanswered(.signed, error), nil)
        } catch {
            return (
                CheckLine(
                    .signed, .failed, "the emulator at \(emulator) signs nothing: \(error)",
                    advice:
                        "check --emulator, its --ca-file if it has https, and that it knows the client_id"
                ), nil
            )
        }
    }

    private static func signed(_ answer: Answer) -> CheckLine {
        let advice: String
        switch answer.status {
        case 200: return CheckLine(.signed, .ok, "accepted with 200")
        case 401: advice = "let the endpoint take its keys from the emulator (base_url)"
        case 403: advice = "the endpoint expects another client_id: check --client-id and audiences"
        default: advice = "look at the log of the endpoint: Apple repeats what is not answered 200"
        }
        return CheckLine(
            .signed, .failed, "answered \(answer.status), in place of 200", advice: advice)
    }

    private static func time(_ time: Duration) -> CheckLine {
        let seen = "responded in \(time.measured)"
        guard time > .seconds(5) else { return CheckLine(.time, .ok, seen) }
        return CheckLine(
            .time, .warning, seen,
            advice: "answer first and work afterwards: how long Apple waits is not documented")
    }
}
