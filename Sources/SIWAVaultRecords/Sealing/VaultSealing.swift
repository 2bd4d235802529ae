internal import SIWACrypto
package import SIWALifecycle

// Encryption and decryption.
extension VaultKeyRing {
    /// The value by which a database recognises a key.
    ///
    /// - Throws: ``StoreError`` if the key is missing.
    package func check(ofKey number: Int) throws(StoreError) -> VaultKeyCheck {
        let key = try key(number)
        return VaultKeyCheck(
            number: number,
            sealed: try cryptography { () throws(OpenSSLError) in
                try AESGCM.seal(
                    SecretBytes([]), with: key, authenticating: Self.checkContext(number))
            })
    }

    /// Whether a key is the one that the database was created with; nil if no key has its number.
    package func matches(_ check: VaultKeyCheck) throws(StoreError) -> Bool? {
        guard let key = keys.first(where: { $0.number == check.number }) else { return nil }
        return try cryptography { () throws(OpenSSLError) in
            try AESGCM.open(
                check.sealed, with: key.key, authenticating: Self.checkContext(check.number))
                != nil
        }
    }

    /// Encrypts a token for its record.
    ///
    /// - Throws: ``StoreError`` if the key is missing or retired.
    package func seal(
        _ token: RefreshToken, for id: VaultRecordID, key number: Int
    ) throws(StoreError) -> [UInt8] {
        let key = try sealingKey(number)
        return try cryptography { () throws(OpenSSLError) in
            try AESGCM.seal(
                token.text.bytes, with: key, authenticating: Self.context(id, key: number))
        }
    }

    /// - Throws: ``StoreError`` if the key is missing or retired.
    private func sealingKey(_ number: Int) throws(StoreError) -> AESGCM.Key {
        guard !keys.contains(where: { $0.number == number && $0.isRetired }) else {
            throw StoreError(.key, "key \(number) of the vault is retired")
        }
        return try key(number)
    }

    /// Decrypts the token of a record.
    ///
    /// - Throws: ``StoreError``, which names the record, if it cannot be decrypted.
    package func open(_ record: VaultRecord) throws(StoreError) -> RefreshToken {
        guard let key = keys.first(where: { $0.number == record.keyNumber })?.key else {
            throw StoreError(
                .key,
                "\(record.id) is encrypted with key \(record.keyNumber), which is missing "
                    + "from the vault's keys", naming: record.user.userID.rawValue)
        }
        let context = Self.context(record.id, key: record.keyNumber)
        let text = try cryptography { () throws(OpenSSLError) in
            try AESGCM.open(record.sealed, with: key, authenticating: context)
        }
        guard let text else {
            throw StoreError(
                .sealBroken,
                "\(record.id) cannot be decrypted: it was changed, or belongs elsewhere",
                naming: record.user.userID.rawValue)
        }
        return RefreshToken(SecretText(text))
    }

    /// Encrypts a secret that is not a record.
    ///
    /// - Throws: ``StoreError`` if the key is missing or retired.
    func seal(
        _ secret: SecretBytes, for place: [String], key number: Int
    ) throws(StoreError) -> [UInt8] {
        let key = try sealingKey(number)
        return try cryptography { () throws(OpenSSLError) in
            try AESGCM.seal(secret, with: key, authenticating: Self.context(place, key: number))
        }
    }

    /// Decrypts a secret that is not a record.
    func open(_ sealed: SealedSecret, for place: [String]) throws(StoreError) -> SecretBytes {
        let key = try key(sealed.keyNumber)
        let context = Self.context(place, key: sealed.keyNumber)
        let secret = try cryptography { () throws(OpenSSLError) in
            try AESGCM.open(sealed.bytes, with: key, authenticating: context)
        }
        guard let secret else {
            throw StoreError(
                .sealBroken,
                "a sealed secret cannot be decrypted: it was changed, or belongs "
                    + "elsewhere")
        }
        return secret
    }
}

// The authenticated context of encrypted text: the place where it belongs.
extension VaultKeyRing {
    private static func context(_ id: VaultRecordID, key: Int) -> [UInt8] {
        place(
            "siwa vault record 2\0",
            [id.user.clientID.rawValue, id.user.userID.rawValue, id.fingerprint.rawValue], key)
    }

    /// Each text is preceded by its length, so that different places have different encodings.
    private static func place(_ label: String, _ texts: [String], _ number: Int) -> [UInt8] {
        var context: [UInt8] = []
        let lengths = texts.reduce(label.utf8.count) { $0 + 8 + $1.utf8.count }
        context.reserveCapacity(lengths + 8)
        context += label.utf8
        for text in texts {
            context.append(bigEndian: text.utf8.count)
            context += text.utf8
        }
        context.append(bigEndian: number)
        return context
    }

    /// The context of a secret that is not a record.
    private static func context(_ texts: [String], key: Int) -> [UInt8] {
        place("siwa sealed secret 1\0", texts, key)
    }

    private static func checkContext(_ number: Int) -> [UInt8] {
        place("siwa vault key 1\0", [], number)
    }
}

extension [UInt8] {
    /// Appends the 8 bytes of an integer, big-endian.
    mutating func append(bigEndian integer: Int) {
        for shift in stride(from: 56, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: integer >> shift))
        }
    }
}
