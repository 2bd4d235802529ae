package import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle

/// The new id of a user after an app transfer.
package struct VaultRemap: Hashable, Sendable {
    /// The user, with the id under which tokens are stored.
    package let user: VaultUser
    /// The id that the user has now; the client remains.
    package let newUserID: UserID

    /// Describes a user's new id.
    package init(_ user: VaultUser, to newUserID: UserID) {
        (self.user, self.newUserID) = (user, newUserID)
    }
}

extension VaultRemap {
    /// Reads a result of `siwa migrate import`: a JSON object with `old_user_id`, `user_id` and
    /// `status`. Nil if the user has no new id, or if the old id is unknown.
    ///
    /// - Throws: ``InvalidLine``.
    package init?(importResult text: SecretBytes, of clientID: ClientID) throws(InvalidLine) {
        let line = try ItemLine(text)
        guard line.object != nil else { throw InvalidLine(nil, "the line is not a JSON object") }
        try line.checkImported()
        guard try line.text("status") ?? "done" == "done", let old = try line.text("old_user_id")
        else { return nil }
        guard let new = try line.text("user_id") else {
            throw InvalidLine(nil, "the line has no member 'user_id'")
        }
        self.init(
            try Self.user(clientID, old, "old_user_id"),
            to: try Self.user(clientID, new, "user_id").userID)
    }

    private static func user(
        _ clientID: ClientID, _ text: String, _ name: String
    ) throws(InvalidLine) -> VaultUser {
        do {
            return try VaultUser(clientID, validating: text)
        } catch {
            throw InvalidLine(nil, "'\(name)' \(error.fault)")
        }
    }
}

/// The result of moving the tokens of users to their new ids.
package struct VaultRemapped: Sendable {
    /// Tokens that moved to the new id.
    package var moved = 0
    /// Users without a token under the old id: the tokens were moved before, or never stored.
    package var absent = 0
    /// Why tokens could not be moved: they cannot be decrypted, or their rows are damaged.
    package var broken: [StoreError] = []

    /// Initially empty.
    package init() {}

    /// The results of two groups.
    package static func += (left: inout Self, right: Self) {
        left.moved += right.moved
        left.absent += right.absent
        left.broken += right.broken
    }
}

extension Vault {
    /// Moves the tokens of users to their new ids, in one transaction. Repeating it moves the
    /// remaining ones.
    ///
    /// - Parameter isDryRun: only counts.
    package func remap(
        _ users: [VaultRemap], isDryRun: Bool = false, at now: NumericDate
    ) throws(StoreError) -> VaultRemapped {
        let all = VaultScope.users(
            users.flatMap { [$0.user, VaultUser($0.user.clientID, $0.newUserID)] })
        var result = VaultRemapped()
        let decide = { (draft: inout VaultDraft) throws(StoreError) in
            result = VaultRemapped()
            let old = Set(users.map { VaultRowKey(before: $0.user) })
            result.broken = draft.damaged.filter { old.contains($0.key.withoutToken) }.map(\.error)
            for remap in users { try self.remap(remap, in: &draft, &result, at: now) }
        }
        if isDryRun {
            var draft = VaultDraft(try store.records(of: all), by: actor)
            try decide(&draft)
        } else {
            try change(all, decide)
        }
        return result
    }

    private func remap(
        _ remap: VaultRemap, in draft: inout VaultDraft, _ result: inout VaultRemapped,
        at now: NumericDate
    ) throws(StoreError) {
        guard remap.newUserID != remap.user.userID else { return result.absent += 1 }
        let records = draft.records(of: remap.user)
        if records.isEmpty { result.absent += 1 }
        for record in records {
            do throws(StoreError) {
                try move(record, to: remap.newUserID, in: &draft, at: now)
                result.moved += 1
            } catch {
                guard [.key, .sealBroken, .recordDamaged].contains(error.kind) else { throw error }
                result.broken.append(error)
            }
        }
    }

    private func move(
        _ record: VaultRecord, to newUserID: UserID, in draft: inout VaultDraft,
        at now: NumericDate
    ) throws(StoreError) {
        let token = try token(of: record)
        let user = VaultUser(record.user.clientID, newUserID)
        let id = VaultRecordID(user, record.id.fingerprint)
        if let row = draft.damagedRow(at: id) { throw row.error }
        if draft.records[id] == nil {
            draft.replace(record.id, with: try sealed(token, as: record.renamed(id)))
        } else {
            // The same token is stored under both ids: the record under the new one remains.
            draft.remove(record.id)
        }
        draft.note(.remapped, of: record, at: now, newUserID: newUserID)
    }
}
