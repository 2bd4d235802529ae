import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

/// An emulator with a seed repeats itself.
@Suite struct SeededTests {
    @Test func `the same seed, clock and requests give the same bytes`() async throws {
        let (one, two) = (try await emulator(1), try await emulator(1))
        let (first, second) = (try await conversation(with: one), try await conversation(with: two))
        #expect(first.count > 10)
        for (left, right) in zip(first, second) { #expect(left == right) }
    }

    @Test func `another seed gives other keys, key ids, codes, tokens and subs`() async throws {
        let (one, two) = (try await emulator(1), try await emulator(2))
        let (first, second) = (try await conversation(with: one), try await conversation(with: two))
        for (left, right) in zip(first, second) { #expect(left != right) }
    }

    @Test func `without a seed, nothing repeats itself`() async throws {
        let (one, two) = (try await emulator(nil), try await emulator(nil))
        let (first, second) = (try await conversation(with: one), try await conversation(with: two))
        for (left, right) in zip(first, second) { #expect(left != right) }
    }

    @Test func `a reset begins the seed anew, but is recognised by readers of the log`()
        async throws
    {
        let harness = try await emulator(7)
        let before = try await conversation(with: harness)
        let instance = try await harness.control("requests")["instance"]
        try await harness.control("reset")
        #expect(try await conversation(with: harness) == before)
        #expect(try await harness.control("requests")["instance"] != instance)
    }

    @Test func `reading the log and the key set does not change the next code`() async throws {
        let (one, two) = (try await emulator(3), try await emulator(3))
        for _ in 0..<5 {
            try await two.control("requests")
            _ = await two.get("/auth/keys")
        }
        #expect(try await one.code() == two.code())
    }

    @Test func `tokens of a seeded key verify, also after more rotations than there are keys`()
        async throws
    {
        let harness = try await emulator(1)
        for _ in 0..<KeyPool.count + 3 {
            try await harness.control("keys/rotate")
            _ = try await harness.verified(harness.session()["id_token"]?.string)
        }
        try await harness.control("keys/rotate", ["keys": 10])
        let keys = try JSON(await harness.get("/auth/keys").body)["keys"]?.elements ?? []
        #expect(Set(keys.map { $0["n"]?.string }).count == 10)
    }

    @Test func `every key of the pool has 2048 bits, signs, and is there once`() throws {
        var moduli: Set<[UInt8]> = []
        let message = Array("message".utf8)
        for number in 0..<KeyPool.count {
            let key = try KeyPool.key(number)
            let publicKey = try RSAPublicKey(modulus: key.modulus, exponent: key.exponent)
            #expect(publicKey.bits == 2048)
            let signature = try key.signature(for: message.span)
            #expect(try publicKey.isValidSignature(signature, for: message.span))
            moduli.insert(key.modulus)
        }
        #expect(moduli.count == KeyPool.count)
    }

    private func emulator(_ seed: UInt64?) async throws -> EmulatorHarness {
        let key = try P256PrivateKey.generate()
        return EmulatorHarness(
            try await .seeded(
                seed, configuration: EmulatorHarness.configuration(key: key.publicKey),
                clock: { EmulatorHarness.start }), key: key)
    }

    /// What a client gets from every endpoint that generates something.
    private func conversation(with harness: EmulatorHarness) async throws -> [String] {
        var answers: [String] = []
        func note(_ response: HTTPResponse) {
            let fields = response.fields.map { "\($0.name): \($0.value)" }
            answers.append(
                "\(response.status) \(fields) \(String(decoding: response.body, as: UTF8.self))")
        }
        note(await harness.get("/auth/keys"))
        answers.append(try await harness.control("users", ["name": "dave"]).text)
        let code = try await harness.control(
            "codes", ["client_id": .string(EmulatorHarness.app), "user": "dave"])
        answers.append(code.text)
        let parameters = [
            ("client_id", EmulatorHarness.app), ("client_secret", try harness.secret()),
        ]
        let exchanged = await harness.post(
            "/auth/token",
            parameters + [
                ("grant_type", "authorization_code"), ("code", try code.text("code")),
            ])
        note(exchanged)
        let token = try JSON(exchanged.body).text("refresh_token")
        note(
            await harness.post(
                "/auth/token",
                parameters + [("grant_type", "refresh_token"), ("refresh_token", token)]))
        answers.append(try await harness.control("keys/rotate").text)
        note(await harness.get("/auth/keys"))
        answers.append(try await harness.control("seed", ["users": 3]).text)
        answers.append(
            try await harness.control("notifications", ["type": "consent-revoked"]).text)
        let page = await harness.get(
            "/auth/authorize?client_id=\(EmulatorHarness.web)&response_type=code"
                + "&redirect_uri=https%3A%2F%2Fexample.com%2Fcallback")
        let text = String(decoding: page.body, as: UTF8.self)
        answers.append(
            try #require(text.firstMatch(of: /name="transaction" value="(\w+)"/)).1.description)
        note(await harness.post("/auth/revoke", parameters + [("token", token)]))
        return answers
    }
}
