import Glibc
import SIWACrypto
import SIWADatabases
import SIWALifecycle
import SIWAVaultRecords

/// A folder with the key of a vault.
struct VaultPlace {
    private let folder: String

    init(_ folder: String) { self.folder = folder }

    private var key: String { "\(folder)/vault.key" }

    /// Makes a vault without records at `url`, which siwa's environment names from now on.
    func make(_ siwa: String, _ url: String) throws {
        for name in [key, "\(key).lock"] { unlink(name) }
        use(url)
        let configuration = try Lines("\(folder)/config.json")
        try configuration.write("{}\n")
        try configuration.close()
        _ = try Child.run([siwa, "vault", "init", "-q"])
    }

    /// From now on, siwa's environment names the vault at `url`, which has this key.
    func use(_ url: String) {
        setenv("SIWA_VAULT_URL", url, 1)
        setenv("SIWA_VAULT_KEY_FILE", key, 1)
        setenv("SIWA_CONFIG", "\(folder)/config.json", 1)
    }

    /// The vault at `url`, opened by this process.
    func vault(_ url: String) throws -> Vault {
        let store = try openVaultStore(url, timeout: .eachStatement(.seconds(600)))
        let keys = try VaultKeyRing(SecretBytes(Array(try Child.run(["cat", key]).output.utf8)))
        return try Vault(store, keys, by: VaultActor(command: "bench", host: "here"))
    }
}
