internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWAVaultRecords

/// Checks that the vault of the settings opens: its database is there, and has the keys of its file.
struct VaultCheck: Sendable {
    private let context: DoctorContext

    init(_ context: DoctorContext) { self.context = context }

    /// Empty if the settings name no vault.
    var lines: [CheckLine] {
        guard context.settings.text(.vaultURL) != nil else { return [] }
        // Root may not touch it, and tests another key, perhaps.
        if context.world.words.isServiceOfOthers {
            return [
                CheckLine(
                    "vault", .skipped, "it is the service's",
                    advice: "to open it, run as the service: siwa doctor")
            ]
        }
        let session = context.quietSession
        do {
            let vault = try session.vault()
            // Opening does not look at all tables.
            try session.vaultStore().requireWhole()
            if context.settings.file?.server != nil { _ = try session.serverStore().examine() }
            let place = vaultPlace(try context.settings.vaultURL().value, context.world.variables)
            return [CheckLine("vault", .ok, "\(place) opens, with key \(vault.currentKey)")]
        } catch {
            let diagnosis = Diagnosis(error)
            let save = session.adviceToSave().map { [$0] } ?? []
            return [
                CheckLine(
                    "vault", .failed, diagnosis.message,
                    advice: (save + diagnosis.hints).joined(separator: "; "))
            ]
        }
    }
}
