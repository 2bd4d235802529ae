import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// A vault in memory with one key.
struct MemoryVaultFixture {
    let store = MemoryVaultStore()
    let vault: Vault
    let user = VaultUser(ClientID(unchecked: "com.example.app"), UserID(unchecked: "u"))
    let start = NumericDate(1_800_000_000)

    init() throws {
        let keys = try VaultKeyRing(try VaultKeyRing.newLine(number: 1))
        try Vault.create(store, keys)
        vault = try Vault(store, keys, by: VaultActor(command: "test", host: "here"))
    }

    func token(_ text: String) -> RefreshToken { RefreshToken(SecretText(text)) }

    func item(
        _ text: String, _ state: VaultState = .active, changed: Int = 0, checked: Int? = nil
    ) -> VaultItem {
        VaultItem(
            user: user, token: token(text), state: state, storedAt: start,
            changedAt: start + .seconds(changed), checkedAt: checked.map { start + .seconds($0) })
    }

    func records() throws -> [VaultRecord] { try store.records(of: [user]).records }

    func events() throws -> [VaultHistoryEvent] { try entries().map(\.event) }

    func entries() throws -> [VaultHistoryEntry] {
        try store.history(VaultHistoryFilter(), after: nil, limit: 1000).entries
    }
}
