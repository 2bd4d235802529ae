internal import SIWAJOSE

// The notifications of a document.
extension VectorIssuer {
    /// Genuine ones in every form that Apple's documents and recordings have, then wrong ones.
    func notificationVectors() async throws -> [Vector] {
        var vectors: [Vector] = []
        let types = [
            "consent-revoked", "account-delete", "account-deleted", "email-disabled",
            "email-enabled",
        ]
        for type in types {
            let payload = try await notification(["type": .string(type)])
            let flags = type.hasPrefix("account-delete") ? ["N09"] : ["N01"]
            vectors.append(Vector(flags: flags, "a genuine \(type)", .init(payload), .valid))
        }
        let good = try await goodSignIn()
        let genuine = try await notification(["type": "account-delete"])
        let model = try GoodSignIn(
            token: genuine, audiences: options.audiences, other: good.notification,
            notification: genuine, now: good.now)
        for bad in BadToken.notifications {
            guard let made = try await bad.made(model, issuer) else { continue }
            vectors.append(Vector(flags: [bad.id], bad.comment, made, bad.result))
        }
        vectors.append(
            Vector(
                flags: ["N05"], "an identity token in place of a notification", .init(good.token),
                .invalid))
        let object = try await notification(
            ["type": "account-delete"], switches: ["notification_events": "object"])
        vectors.append(
            Vector(
                flags: ["N09"],
                "events is an object: Apple's documentation shows one, Apple sends a text",
                .init(object), .acceptable))
        return vectors
    }
}

extension BadToken {
    /// The checks of identity tokens that are about their header and signature: a notification is
    /// signed by the same keys.
    private static let shared: Set<String> = [
        "T01", "T02", "T03", "T04", "T05", "T06", "T07", "T08", "T09", "T10", "T11", "T12", "T13",
        "T14", "T15", "T16",
    ]

    /// Wrong notifications, made of a genuine account-delete.
    static let notifications: [BadToken] =
        ownNotifications + all.filter { shared.contains($0.id) && $0.use != .conform }

    private static let ownNotifications: [BadToken] = [
        forged("N02", "signed by an own key, under a published kid") { _ in [] },
        text("N02", "another user under the signature of the genuine notification") { good, _ in
            let events = try JSON(text: good.claims["events"]?.string ?? "")
            let other = events.changed([("sub", "001999.attacker.1999")]).text
            let claims = good.claims.changed([("events", .string(other))])
            return good.input(good.header.text, claims.text) + "." + good.parts[2]
        },
        claims("N03", "aud of an app of another team") { _ in [("aud", "com.attacker.app")] },
        claims("N03", "aud with a suffix") { [("aud", .string($0.audience + ".evil"))] },
        claims("N03", "no aud") { _ in [("aud", nil)] },
        text("N04", "alg none, no signature") { good, _ in
            good.input(header: [("alg", "none")]) + "."
        },
        claims("N05", "no events") { _ in [("events", nil)] },
        text("N07", "no token", result: .invalid) { _, _ in "garbage" },
        text("N07", "empty", result: .invalid) { _, _ in "" },
        text("N07", "three parts that are not base64url", result: .invalid) { _, _ in "a.b.c" },
        claims("N07", "events is not JSON", result: .invalid) { _ in [("events", "{")] },
        claims("T27", "another iss") { _ in [("iss", "https://attacker.example")] },
        claims("T28", "no iss") { _ in [("iss", nil)] },
    ]
}
