import Foundation
import SIWATestSupport
import SignInWithApple
import SignInWithAppleEmulator
import SignInWithAppleVault
import Testing

/// Changes of the vault's key, as a service with replicas makes them.
@Suite struct VaultKeysTests {
    @Test func `after a change of keys, old replicas go on with the new key`() async throws {
        let folder = try TemporaryFolder()
        let url = "sqlite:" + folder.path("vault.db")
        let keys = try TokenVault.newKeys()
        try await TokenVault.create(url: url, keys: keys)
        let before = try await TokenVault(url: url, keys: keys)
        try await before.store("r.one", userID: "001", clientID: "com.example.app")

        let newer = try TokenVault.addingKey(to: keys)
        #expect(newer.hasPrefix(keys) && newer.split(separator: "\n").count == 2)
        // All replicas have the new key before one of them changes the vault.
        let replica = try await TokenVault(url: url, keys: newer)
        try await replica.store("r.two", userID: "002", clientID: "com.example.app")
        let changing = try await TokenVault(url: url, keys: newer)
        #expect(try await changing.rekey() == VaultRekeying(keyNumber: 2, encrypted: 2))
        let third = try await replica.store("r.three", userID: "003", clientID: "com.example.app")
        #expect(try await replica.refreshToken(of: third) == "r.three")
        #expect(try await changing.rekey() == VaultRekeying(keyNumber: 2, encrypted: 0))

        // A replica without it must be opened again.
        let failure = await #expect(throws: TokenVaultError.self) {
            try await before.store("r.four", userID: "004", clientID: "com.example.app")
        }
        #expect(failure?.kind == .keySuperseded && failure?.isRetryable == true)

        let retired = try TokenVault.retiringOldKeys(in: newer)
        #expect(retired.split(separator: "\n").map { $0.hasSuffix(" retired") } == [true, false])
        let after = try await TokenVault(url: url, keys: retired)
        let tokens = try await after.tokens()
        #expect(tokens.map(\.userID) == ["001", "002", "003"])
        for token in tokens { #expect(try await after.refreshToken(of: token).hasPrefix("r.")) }
        var expected = VaultCheck()
        expected.tokens = [.active: 3]
        #expect(try await after.check() == expected)
    }

    @Test func `a record that cannot be decrypted does not stop a change of keys`() async throws {
        let folder = try TemporaryFolder()
        let url = "sqlite:" + folder.path("vault.db")
        let keys = try TokenVault.newKeys()
        try await TokenVault.create(url: url, keys: keys)
        let vault = try await TokenVault(url: url, keys: try TokenVault.addingKey(to: keys))
        for user in ["001", "002", "003"] {
            try await vault.store("r.\(user)", userID: user, clientID: "com.example.app")
        }
        try change(url, "UPDATE vault_token SET state = 'nonsense' WHERE user_id = '002'")
        let done = try await vault.rekey()
        #expect(done.encrypted == 2 && done.faults.count == 1)
        #expect(done.faults.first?.contains("002") == true)
    }

    @Test func `a cancelled change of keys can be continued`() async throws {
        let folder = try TemporaryFolder()
        let url = "sqlite:" + folder.path("vault.db")
        let keys = try TokenVault.newKeys()
        try await TokenVault.create(url: url, keys: keys)
        let vault = try await TokenVault(url: url, keys: try TokenVault.addingKey(to: keys))
        try await vault.store("r.one", userID: "001", clientID: "com.example.app")
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await #expect(throws: TokenVaultError.self) { try await vault.rekey() }
        }
        task.cancel()
        let failure = await task.value
        #expect(failure?.kind == .cancelled && failure?.isRetryable == true)
        #expect(try await vault.rekey() == VaultRekeying(keyNumber: 2, encrypted: 1))
    }

    @Test(arguments: ["", "no key", "1 zz"])
    func `a text that is no key file is refused`(_ text: String) throws {
        let failures = [
            #expect(throws: TokenVaultError.self) { try TokenVault.addingKey(to: text) },
            #expect(throws: TokenVaultError.self) { try TokenVault.retiringOldKeys(in: text) },
        ]
        for failure in failures {
            #expect(failure?.kind == .key && failure?.isRetryable == false)
        }
    }

    @Test func `all tokens of a user are listed and removed, whichever client has them`()
        async throws
    {
        let folder = try TemporaryFolder()
        let (url, keys) = ("sqlite:" + folder.path("vault.db"), try TokenVault.newKeys())
        try await TokenVault.create(url: url, keys: keys)
        let vault = try await TokenVault(url: url, keys: keys)
        for client in ["com.example.app", "com.example.web"] {
            try await vault.store("r.\(client)", userID: "001", clientID: client)
        }
        try await vault.store("r.other", userID: "002", clientID: "com.example.app")
        let tokens = try await vault.tokens(userID: "001")
        #expect(Set(tokens.map(\.clientID)) == ["com.example.app", "com.example.web"])
        #expect(try await vault.tokens(userID: "001", clientID: "com.example.web").count == 1)
        #expect(try await vault.remove(userID: "001", isErasing: true) == 2)
        #expect(try await vault.tokens(userID: "001").isEmpty)
        #expect(try await vault.tokens().map(\.userID) == ["002"])
        let gone = await #expect(throws: TokenVaultError.self) {
            try await vault.refreshToken(of: tokens[0])
        }
        #expect(gone?.kind == .invalidArgument)
        let invalid = await #expect(throws: TokenVaultError.self) {
            try await vault.remove(userID: "")
        }
        #expect(invalid?.kind == .invalidArgument)
    }
}
