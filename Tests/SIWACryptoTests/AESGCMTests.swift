import SIWACrypto
import Testing

@Suite struct AESGCMTests {
    private let key = AESGCM.Key(SecretBytes(Array(0..<32)))
    private let context = Array("com.example.app|001234".utf8)

    private func sealed(_ text: String) throws -> [UInt8] {
        try AESGCM.seal(SecretBytes(text.utf8), with: key, authenticating: context)
    }

    @Test(arguments: ["", "r", "r1234.0.abcd", String(repeating: "t", count: 5000)])
    func `encrypted text can be decrypted`(_ text: String) throws {
        let opened = try AESGCM.open(try sealed(text), with: key, authenticating: context)
        #expect(opened?.revealed() == Array(text.utf8))
    }

    /// Test case 16 of "The Galois/Counter Mode of Operation" (McGrew, Viega, 2005).
    @Test func `the published test case can be decrypted`() throws {
        let key = bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
        let text = """
            d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2\
            449a6b525b16aedf5aa0de657ba637b39
            """
        let sealed = """
            cafebabefacedbaddecaf888\
            522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1\
            056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b
            """
        let opened = try AESGCM.open(
            bytes(sealed), with: AESGCM.Key(SecretBytes(key)),
            authenticating: bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2"))
        #expect(opened?.revealed() == bytes(text))
    }

    @Test func `a change of any bit is detected`() throws {
        let sealed = try sealed("r1234")
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(
                try AESGCM.open(changed, with: key, authenticating: context) == nil, "bit \(bit)")
        }
    }

    @Test func `another key, another context and a shorter text are refused`() throws {
        let sealed = try sealed("r1234")
        var otherKey = Array(key.bytes.revealed())
        otherKey[31] ^= 1
        #expect(
            try AESGCM.open(
                sealed, with: AESGCM.Key(SecretBytes(otherKey)), authenticating: context) == nil)
        #expect(try AESGCM.open(sealed, with: key, authenticating: context + [0]) == nil)
        for length in 0..<sealed.count {
            let part = Array(sealed[..<length])
            #expect(try AESGCM.open(part, with: key, authenticating: context) == nil)
        }
    }

    @Test func `the same text is never encrypted to the same bytes`() throws {
        let nonces = try (0..<200).map { _ in Array(try sealed("r")[..<12]) }
        #expect(Set(nonces).count == 200)
    }

    @Test func `a key works after a failed decryption, and in several tasks at once`() async throws
    {
        let texts = (0..<200).map { String(repeating: "t", count: $0) }
        try await withThrowingTaskGroup { group in
            for text in texts {
                group.addTask {
                    let box = try sealed(text)
                    let other = try AESGCM.open(box, with: key, authenticating: context + [1])
                    #expect(other == nil)
                    let opened = try AESGCM.open(box, with: key, authenticating: context)
                    #expect(opened?.revealed() == Array(text.utf8))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a key of another length is refused`() {
        #expect(throws: OpenSSLError.self) {
            try AESGCM.seal(
                SecretBytes([1]), with: AESGCM.Key(SecretBytes([1, 2])), authenticating: [])
        }
    }

    private func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }
}
