import SIWACrypto
import Testing

@Suite struct DigestTests {
    /// FIPS 180-4's examples, and the empty message.
    static let examples = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]

    @Test(arguments: examples) func `SHA-256 digests equal the published examples`(
        _ message: String, _ digest: String
    ) throws {
        #expect(try SHA256.digest(message) == bytes(hex: digest))
        #expect(try SHA256.digest(Array(message.utf8).span) == bytes(hex: digest))
    }

    @Test(arguments: [0, 1, 16, 4096]) func `random bytes have the requested length and differ`(
        _ count: Int
    ) throws {
        let first = try Random.bytes(count)
        #expect(first.count == count)
        if count >= 16 { #expect(try first != Random.bytes(count)) }
    }

    @Test func `an error contains every reason, oldest first`() {
        #expect(throws: OpenSSLError.self) { try P256PublicKey(x963Representation: [4]) }
        do {
            _ = try P256PrivateKey(derRepresentation: SecretBytes([0x30, 0x01, 0x00]))
        } catch .unreadable(let error) {
            #expect(!error.reasons.isEmpty)
            #expect(error.description == error.reasons.joined(separator: "; "))
        } catch {
            Issue.record(error)
        }
    }
}
