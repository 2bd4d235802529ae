import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import SIWAVaultRecords
import Testing

@Suite struct RetiredKeyTests {
    private static let digits = String(repeating: "0a", count: 32)
    private let actor = VaultActor(command: "test", host: "here")

    private func ring(_ text: String) throws -> VaultKeyRing {
        try VaultKeyRing(SecretBytes(text.utf8))
    }

    @Test func `a retired key decrypts and never encrypts`() throws {
        let fixture = try MemoryVaultFixture()
        let record = try fixture.vault.store(
            fixture.token("r-1"), for: fixture.user, at: fixture.start)
        let line = String(decoding: fixture.vault.keys.lines.revealed(), as: UTF8.self)
        let keys = try ring(line.dropLast() + " retired\n2 \(Self.digits)\n")
        #expect((keys.numbers, keys.retiredNumbers, keys.newest) == ([1, 2], [1], 2))
        #expect(
            try ring(String(decoding: keys.lines.revealed(), as: UTF8.self)).retiredNumbers == [1])
        #expect(try keys.open(record).text.revealed() == "r-1")
        let error = #expect(throws: StoreError.self) {
            try keys.seal(fixture.token("r-1"), for: record.id, key: 1)
        }
        #expect(error?.kind == .key)
        // As if an attacker had deleted the row of key 2: key 1 is not used again.
        let refusal = #expect(throws: StoreError.self) {
            try Vault(fixture.store, keys, by: actor)
        }
        #expect(refusal?.kind == .key)
        #expect(refusal?.message.contains("key 1, which is marked as retired") == true)
        #expect(try Vault.currentKey(of: fixture.store, keys) == 1)
        try fixture.store.register(keys.check(ofKey: 2))
        #expect(try Vault(fixture.store, keys, by: actor).currentKey == 2)
    }

    @Test(arguments: [
        ("1 K\n2 K\n", 2, "1 K retired\n2 K\n"),
        ("1 K\n2 K\n3 K\n", 3, "1 K retired\n2 K retired\n3 K\n"),
        ("# a\r\n 1\tK \r\n2 K", 2, "# a\r\n 1\tK retired \r\n2 K"),
        ("K\n2 K\n", 2, "1 K retired\n2 K\n"), ("K", 1, "K"),
        ("1 K, 2 K,3 K", 3, "1 K retired, 2 K retired,3 K"),
        ("1 K retired\n2 K\n", 2, "1 K retired\n2 K\n"), ("2 K\n1 K\n", 2, "2 K\n1 K retired\n"),
    ])
    func `older keys are marked, and every other byte is kept`(
        _ before: String, _ newest: Int, _ after: String
    ) throws {
        func written(_ text: String) -> String {
            text.split(separator: "K", omittingEmptySubsequences: false)
                .joined(separator: Self.digits)
        }
        let result = try VaultKeyRing.retiring(
            keysBefore: newest, in: SecretBytes(written(before).utf8))
        #expect(String(decoding: result.revealed(), as: UTF8.self) == written(after))
        let keys = try VaultKeyRing(result)
        #expect(keys.retiredNumbers == keys.numbers.filter { $0 < newest })
    }

    @Test func `a key number above 2147483647 is an error`() throws {
        #expect(try ring("2147483647 \(Self.digits)").newest == 2_147_483_647)
        #expect(try VaultKeyRing.number(after: 999_999) == 1_000_000)
        #expect(try ring("1000000 \(Self.digits)").newest == 1_000_000)
        #expect(throws: StoreError.self) { try ring("2147483648 \(Self.digits)") }
        for number in [2_147_483_647, .max] {
            let error = #expect(throws: StoreError.self) {
                try VaultKeyRing.number(after: number)
            }
            #expect(error?.kind == .key)
        }
        for number in [0, -1, 2_147_483_648, .max, .min] {
            #expect(throws: StoreError.self) { try VaultKeyRing.newLine(number: number) }
        }
        #expect(throws: StoreError.self) { try ring("1 \(Self.digits) Retired") }
        #expect(throws: StoreError.self) { try ring("1 retired \(Self.digits)") }
    }
}
