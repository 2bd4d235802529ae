internal import SignInWithApple

/// What `POST /emulator/notifications` asks for.
struct NotificationRequest {
    /// One of Apple's, or any other text: a receiver must bear types that are new.
    let type: String
    let user: EmulatedUser
    /// Whom it concerns: `aud`.
    let client: EmulatedClient
    /// Where it is posted to; nil leaves that to whoever asked.
    let url: String?
    /// How often it is tried, until the receiver answers 200.
    let attempts: Int
    /// How long it waits before it is posted.
    let delay: Duration
    /// Whether the answer waits for the receiver's.
    let waits: Bool

    init(
        json: JSON, in configuration: EmulatorConfiguration, _ users: UserDirectory
    ) throws(ShapeError) {
        let reader = try MemberReader(
            json, knowing: ["type", "user", "client_id", "url", "attempts", "delay", "wait"])
        type = try reader.required("type")
        user = try reader.user(of: users)
        client =
            try json["client_id"] == nil
            ? configuration.primaryClient() : reader.client(of: configuration)
        url = try reader.loopbackURL()
        attempts = try reader.optional("attempts") ?? 3
        delay = try reader.optional("delay") ?? .zero
        waits = try reader.optional("wait") ?? true
        guard (1...10).contains(attempts), (.zero ... .seconds(3600)).contains(delay) else {
            throw ShapeError("", "'attempts' must be 1 to 10 and 'delay' at most an hour")
        }
    }
}

extension EmulatorConfiguration {
    /// Apple names the primary App ID of a group: here that is the first app.
    func primaryClient() throws(ShapeError) -> EmulatedClient {
        guard let client = clients.first(where: { $0.kind == .app }) else {
            throw ShapeError("", "'client_id' is missing, and there is no app to be concerned")
        }
        return client
    }
}

extension MemberReader {
    /// Nothing the emulator makes leaves this machine.
    func loopbackURL(_ name: String = "url") throws(ShapeError) -> String? {
        guard let url: String = try optional(name) else { return nil }
        guard WebAddress(url)?.isLoopback == true else {
            throw ShapeError(
                place, "'\(name)' must be an http or https URL of localhost or a loopback address")
        }
        return url
    }
}
