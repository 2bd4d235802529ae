internal import SIWAJOSE

/// The body of `POST /emulator/notifications`.
struct NotificationRequest {
    /// One of Apple's types, or any other text: a receiver must tolerate new types.
    let type: String
    /// The users of the event: one user, or with `count` that many users in turn, beginning with
    /// the named one.
    let users: [EmulatedUser]
    /// The client concerned: `aud`.
    let client: EmulatedClient
    let plan: DeliveryPlan
    /// What is wrong with the notification on purpose; nil for Apple's.
    let alteration: TokenAlteration?
    /// Whether `count` was given: the answer is then a summary.
    let isMany: Bool

    init(
        json: JSON, in configuration: EmulatorConfiguration, _ directory: UserDirectory
    ) throws(ShapeError) {
        let reader = try JSONObjectReader(
            json,
            knowing: ["type", "user", "client_id", "count"] + DeliveryPlan.members
                + TokenAlteration.members)
        let altered = try TokenAlteration(reader)
        alteration = altered.isEffective ? altered : nil
        type = try reader.required("type")
        client =
            try json["client_id"] == nil
            ? configuration.primaryClient() : reader.client(of: configuration)
        plan = try DeliveryPlan(reader, attempts: 3)
        let count: Int? = try reader.optional("count")
        let most = DeliveryPlan.limit / plan.copies
        guard (1...most).contains(count ?? 1) else {
            throw ShapeError(
                "", "'count' times 'copies' must be 1 to \(DeliveryPlan.limit)")
        }
        isMany = count != nil
        users = directory.users(count ?? 1, from: try reader.user(of: directory))
    }
}

extension EmulatorConfiguration {
    /// Apple names the primary App ID of a group: here that is the first app.
    func primaryClient() throws(ShapeError) -> EmulatedClient {
        guard let client = clients.first(where: { $0.kind == .app }) else {
            throw ShapeError("", "'client_id' is missing, and no app is configured")
        }
        return client
    }
}

extension JSONObjectReader {
    /// The emulator sends notifications only within this machine.
    func loopbackURL(_ name: String = "url") throws(ShapeError) -> String? {
        guard let url: String = try optional(name) else { return nil }
        guard WebAddress(url)?.isLoopback == true else {
            throw ShapeError(
                place, "'\(name)' must be an http or https URL of localhost or a loopback address")
        }
        return url
    }
}
