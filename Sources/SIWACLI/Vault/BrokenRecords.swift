internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAVaultRecords

/// Damaged records, collected while the whole vault is read and reported at the end.
struct BrokenRecords: Sendable {
    private var messages: [String] = []
    private var remedies: [String] = []
    /// How many faults were noted.
    private(set) var count = 0

    /// The token of a record; nil if it cannot be decrypted, which is noted.
    ///
    /// - Throws: ``StoreError`` if the fault is not in the record.
    mutating func token(
        of record: VaultRecord, in vault: Vault
    ) throws(StoreError) -> RefreshToken? {
        do {
            return try vault.token(of: record)
        } catch {
            try add(error)
            return nil
        }
    }

    /// Notes that a record cannot be decrypted.
    mutating func add(_ error: StoreError) throws(StoreError) {
        guard error.isAboutRecord else { throw error }
        add(error.message, error.kind)
    }

    /// Notes a fault of the vault.
    mutating func add(_ message: String, _ kind: StoreError.Kind, remedy: String? = nil) {
        count += 1
        if messages.count < Self.mostNamed { messages.append(message) }
        let remedy = remedy ?? kind.remedy
        if !remedies.contains(remedy) { remedies.append(remedy) }
    }

    /// - Parameter outcome: what happened to the other records, as the end of a sentence.
    /// - Throws: ``Diagnosis`` if there are any.
    func check(_ outcome: String) throws(Diagnosis) {
        guard count > 0 else { return }
        let more = count > messages.count ? ["and \(count - messages.count) more"] : []
        throw Diagnosis(
            .vault, "\(count) \(count == 1 ? "fault is" : "faults are") in the vault; \(outcome)",
            hints: messages + more + remedies, exitCode: .settings)
    }

    private static let mostNamed = 20
}
