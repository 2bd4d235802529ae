import Foundation
import SIWACrypto
import Testing

/// What the makers of test tokens compute, beside published results.
@Suite struct KnownAnswerTests {
    /// RFC 6979 appendix A.2.5.
    private static let p256Scalar =
        "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"
    private static let p256Point = """
        04 60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6 \
        7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299
        """

    @Test(arguments: [
        (
            "sample",
            """
            EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716 \
            F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8
            """
        ),
        (
            "test",
            """
            F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367 \
            019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083
            """
        ),
    ])
    func `a reproducible key signs as RFC 6979 has it`(
        _ message: String, _ signature: String
    ) throws {
        let key = try ReproducibleP256Key(scalar: bytes(hex: Self.p256Scalar))
        #expect(key.publicKey.x963Representation == bytes(hex: Self.p256Point))
        let made = try key.signature(for: Array(message.utf8))
        #expect(made.rawRepresentation == bytes(hex: signature))
        #expect(try key.publicKey.verifies(made, for: Array(message.utf8)))
        let ordinary = try key.privateKey().sign(for: Array(message.utf8))
        #expect(try key.publicKey.verifies(ordinary, for: Array(message.utf8)))
    }

    @Test(arguments: [
        [], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32), [1, 2, 3],
    ])
    func `a number that is not that of a key is refused`(_ scalar: [UInt8]) {
        #expect(throws: OpenSSLError.self) { try ReproducibleP256Key(scalar: scalar) }
    }

    /// RFC 4231 §4.2, §4.3 and §4.7: key, message, HMAC-SHA-384, HMAC-SHA-512.
    private static let codes: [([UInt8], String, String, String)] = [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            """
            afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8\
            b2fa9cb6
            """,
            """
            87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274e\
            aea3f4e4be9d914eeb61f1702e696c203a126854
            """
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            """
            af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ec\
            fab21649
            """,
            """
            164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65\
            f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737
            """
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            """
            4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe8296248df1\
            63f44952
            """,
            """
            80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd221\
            5d6a1e5295e64f73f63f0aec8b915a985d786598
            """
        ),
    ]

    @Test func `HMAC with SHA-384 and SHA-512 equals the codes of RFC 4231`() throws {
        for (key, message, short, long) in Self.codes {
            let message = Array(message.utf8)
            #expect(
                try HMAC.code(of: message, with: SecretBytes(key), using: .sha384)
                    == bytes(hex: short))
            #expect(
                try HMAC.code(of: message, with: SecretBytes(key), using: .sha512)
                    == bytes(hex: long))
        }
    }

    /// Test case 16 of "The Galois/Counter Mode of Operation" (McGrew, Viega, 2005).
    @Test func `a text that is encrypted with a given nonce equals the published one`() throws {
        let nonce = bytes(hex: "cafebabefacedbaddecaf888")
        let text = """
            d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2\
            449a6b525b16aedf5aa0de657ba637b39
            """
        let sealed = """
            522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1\
            056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b
            """
        let key = AESGCM.Key(
            SecretBytes(
                bytes(hex: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")))
        let context = bytes(hex: "feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let made = try AESGCM.seal(
            SecretBytes(bytes(hex: text)), with: key, nonce: nonce, authenticating: context)
        #expect(made == nonce + bytes(hex: sealed))
        #expect(throws: OpenSSLError.self) {
            try AESGCM.seal(
                SecretBytes([1]), with: key, nonce: Array(nonce.dropLast()), authenticating: [])
        }
    }
}

/// RSA with a given salt or seed, beside Wycheproof's vectors of which it is known.
@Suite struct RSAEncodingTests {
    private struct File: Decodable {
        struct Group: Decodable {
            struct Key: Decodable {
                let modulus: String
                let publicExponent: String
            }

            struct Test: Decodable {
                let tcId: Int
                let msg: String
                let sig: String?
                let ct: String?
            }

            let publicKey: Key?
            let privateKeyPkcs8: String?
            let tests: [Test]
        }

        let testGroups: [Group]
    }

    private static func group(_ name: String) throws -> File.Group {
        let data = try vector("wycheproof/\(name)_excerpt.json")
        return try #require(JSONDecoder().decode(File.self, from: data).testGroups.first)
    }

    /// 32 bytes of zeros, then of ones: what the tests' comments say.
    private static let given = [
        [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32),
    ]

    @Test func `PSS with a given salt is the block of a published signature`() throws {
        let group = try Self.group("rsa_pss_2048_sha256_mgf1_32")
        let parts = try #require(group.publicKey)
        let modulus = Array(bytes(hex: parts.modulus).drop { $0 == 0 })
        let key = try RSAPublicKey(modulus: modulus, exponent: bytes(hex: parts.publicExponent))
        #expect(group.tests.map(\.tcId) == [73, 74])
        for (test, salt) in zip(group.tests, Self.given) {
            let block = try RSAEncoding.pss(bytes(hex: test.msg), salt: salt)
            let signature = bytes(hex: try #require(test.sig))
            #expect(try key.encryption(ofBlock: signature) == block)
            #expect(try RSAEncoding.pss(bytes(hex: test.msg), salt: salt.flipping(0)) != block)
        }
    }

    @Test func `OAEP with a given seed encrypts as published, and decrypts to its block`() throws {
        let group = try Self.group("rsa_oaep_2048_sha256_mgf1sha256")
        let secret = try RSAPrivateKey(
            derRepresentation: bytes(hex: try #require(group.privateKeyPkcs8)))
        let key = try RSAPublicKey(modulus: secret.modulus, exponent: secret.exponent)
        #expect(group.tests.map(\.tcId) == [21, 22])
        for (test, seed) in zip(group.tests, Self.given) {
            let block = try RSAEncoding.oaep(bytes(hex: test.msg), seed: seed)
            let encrypted = bytes(hex: try #require(test.ct))
            #expect(try key.encryption(ofBlock: block) == encrypted)
            // The private operation is the same for signatures and for decryption.
            #expect(try secret.signature(ofBlock: encrypted) == block)
        }
    }

    @Test func `a PKCS1 block under the private operation is an ordinary signature`() throws {
        let group = try Self.group("rsa_oaep_2048_sha256_mgf1sha256")
        let secret = try RSAPrivateKey(
            derRepresentation: bytes(hex: try #require(group.privateKeyPkcs8)))
        let message = Array("a message".utf8)
        let block = RSAEncoding.pkcs1(try RSAEncoding.digestInfo256(message))
        #expect(try secret.signature(ofBlock: block) == secret.sign(for: message))
        // RFC 8017 §9.2, note 1: the DigestInfo of SHA-384.
        let long = try RSAEncoding.digestInfo384(Array("abc".utf8))
        #expect(
            long == bytes(hex: "3041300d060960864801650304020205000430")
                + bytes(
                    hex: """
                        cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc23\
                        58baeca134c825a7
                        """))
    }

    @Test func `a block of another length, or above the modulus, is refused`() throws {
        let key = try RSAPrivateKey.generate()
        let known = try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)
        for block in [[UInt8](repeating: 0xFF, count: 256), [1, 2, 3]] {
            #expect(throws: OpenSSLError.self) { try key.signature(ofBlock: block) }
            #expect(throws: OpenSSLError.self) { try known.encryption(ofBlock: block) }
        }
    }
}
