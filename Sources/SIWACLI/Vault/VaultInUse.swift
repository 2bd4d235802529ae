internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAVaultRecords

extension Session {
    /// Says which configuration and which vault are in use, as the first line of a command about a
    /// whole vault: the result about a wrong vault looks like that about the right one.
    func nameVault() throws(SettingsError) {
        let url = try settings.vaultURL()
        let file = settings.file?.path
        let isFromFile =
            switch url.origin {
            case .profile, .file: true
            default: false
            }
        console.note(
            (file.map { "configuration \($0)" } ?? "no configuration file")
                + "; vault \(vaultPlace(url.value, world.variables))"
                + (isFromFile ? "" : " (\(url.origin))"))
    }

    /// Warns that a vault was moved: what it shows is that of another day.
    func warnOfMove(_ store: any VaultStore) {
        guard let move = store.move else { return }
        console.warn("\(move.message); \(move.kind.remedy)")
    }
}
