internal import SIWAJOSE
internal import SIWALifecycle

// The names in the templates of a file.
extension ConformFile {
    /// What every sign-in knows.
    private static let given: Set<String> = [
        "id_token", "code", "nonce", "state", "user", "email", "sub", "access_token",
    ]

    /// Requires that every template has a value: one of the sign-in, or one that a step saves.
    func checkTemplates() throws(ShapeError) {
        let native = signIn?.steps ?? []
        let website = (web?.start ?? []) + (web?.finish ?? [])
        let saved = Self.saved(native + website)
        try Self.check(native, "sign_in", Self.given.union(Self.saved(native)))
        try Self.check(website, "web", Self.given.union(Self.saved(website)))
        let account = passwordAccount ?? []
        try Self.check(
            account, "password_account", Self.given.union(Self.saved(account)))
        let known = Self.given.union(saved).union(Self.saved(account))
        try Self.check(whoami.map { [$0.step] } ?? [], "whoami", known)
        let leaving = deletion?.steps ?? []
        try Self.check(leaving, "delete", known.union(Self.saved(leaving)))
        try Self.check(notifications.map { [$0] } ?? [], "notifications", ["payload"])
    }

    private static func saved(_ steps: [Step]) -> Set<String> {
        Set(steps.flatMap { $0.saves.map(\.name) })
    }

    private static func check(
        _ steps: [Step], _ place: String, _ known: Set<String>
    ) throws(ShapeError) {
        for name in steps.flatMap(\.templateNames) where !known.contains(name) {
            throw ShapeError(
                place,
                "'{{\(name)}}' has no value: it is none of \(known.sorted().joined(separator: ", "))"
            )
        }
    }
}

extension Step {
    /// The names in its templates, without what follows a dot or a bar.
    fileprivate var templateNames: [String] {
        texts.flatMap { text in
            var names: [String] = []
            var rest = Substring(text)
            while let start = rest.firstPlace(of: "{{"),
                let end = rest[start.upperBound...].firstPlace(of: "}}")
            {
                let name = rest[start.upperBound..<end.lowerBound]
                names.append(String(name.prefix { $0 != "|" && $0 != "." }))
                rest = rest[end.upperBound...]
            }
            return names
        }
    }
}
