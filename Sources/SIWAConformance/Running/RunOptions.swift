/// What to run, and how.
package struct RunOptions: Sendable {
    /// Ids and groups to run; empty for all.
    package var only: [String] = []
    /// Ids and groups to skip, with the reason.
    package var skipped: [(name: String, reason: String)] = []
    /// Whether every variant is sent, and not one for each mechanism.
    package var isExhaustive = false
    /// Whether the target must be seen to trust the emulator first.
    package var needsProof = true
    package var budget = Duration.seconds(360)
    package var timeout = Duration.seconds(10)
    /// How long the first good sign-in is retried.
    package var patience = Duration.seconds(60)
    /// How long a backend may take to ask for a new key.
    package var newKeyPatience = Duration.seconds(90)

    package init() {}

    /// Why the check of that id is not run; nil if it is.
    func reasonToSkip(_ id: String) -> String? {
        Catalogue.check(id).map(reasonToSkip) ?? "not in the catalogue"
    }

    /// Why a check is not run; nil if it is.
    func reasonToSkip(_ check: Check) -> String? {
        if let skip = skipped.first(where: { check.isNamed($0.name) }) { return skip.reason }
        guard only.isEmpty || only.contains(where: check.isNamed) else {
            return "not selected by --only"
        }
        return nil
    }
}
