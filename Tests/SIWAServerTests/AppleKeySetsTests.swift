import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWAServer

/// When Apple is asked for keys.
@Suite struct AppleKeySetsTests {
    private let now = Mutable(NumericDate(1_800_000_000))
    private let fetches = Mutable(0)

    private let published = Mutable("GENUINE")

    private func keys() throws -> AppleKeySets {
        let key = try RSAPrivateKey.generate()
        let (now, fetches, published) = (now, fetches, published)
        return AppleKeySets(now: { now.value }) { () async throws(TokenFailure) in
            fetches.value += 1
            return KeySet(key.keySet(as: published.value).bytes)
        }
    }

    @Test func `the keys of a file are used exclusively, also in an exchange`() async throws {
        let fixed = try #require(set(await keys().answer(holding: "GENUINE")))
        let now = now
        let keys = AppleKeySets(now: { now.value }, fixed: fixed)
        guard case .given = await keys.keysForExchange(holding: "OTHER") else {
            return #expect(Bool(false), "another key might be skipped")
        }
    }

    @Test func `keys are used for seven days after their fetch`() async throws {
        let keys = try keys()
        #expect(hasSet(await keys.answer(holding: "GENUINE")))
        keys.replace(fetching: { () async throws(TokenFailure) in
            throw TokenFailure(
                cause: .unreachable(TransportError(.connect, "", requestMayHaveLeft: true)),
                request: .keySet, attempts: 1)
        })
        now.value = now.value + .seconds(7 * 86_400)
        #expect(hasSet(await keys.answer(holding: "GENUINE")))
        now.value = now.value + .seconds(1)
        #expect(!hasSet(await keys.answer(holding: "GENUINE")))
        #expect(keys.known(holding: "GENUINE") == nil)
    }

    @Test func `the server warns of old keys from the first day, once an hour`() async throws {
        let keys = try keys()
        #expect(hasSet(await keys.answer(holding: "GENUINE")))
        keys.replace(fetching: { () async throws(TokenFailure) in nil })
        let (now, start, ages) = (now, now.value, Mutable<[Duration]>([]))
        let timekeeper = Timekeeper(
            elapsed: { .zero },
            sleep: { duration in
                now.value = now.value + max(duration, .seconds(1))
                guard now.value - start > .seconds(27 * 3600) else { return }
                try await Task.sleep(for: .seconds(3600))
            })
        let task = Task { await keys.keepFresh(timekeeper) { ages.value.append($0) } }
        try await eventually("three warnings") { ages.value.count > 2 }
        task.cancel()
        await task.value
        let hours = ages.value.map { Int($0.components.seconds) / 3600 }
        #expect(hours.starts(with: [24, 25, 26]) && hours.count <= 4, "\(hours)")
    }

    private func set(_ answer: AppleKeySets.Answer) -> KeySet? {
        if case .keySet(let keySet) = answer { keySet } else { nil }
    }

    private func hasSet(_ answer: AppleKeySets.Answer) -> Bool {
        if case .keySet = answer { true } else { false }
    }

    @Test func `one fetch decides about everything that was received before it`() async throws {
        let keys = try keys()
        let receivedAt = now.value
        now.value = receivedAt + .seconds(1)
        for number in 0..<50 {
            let answer = await keys.answer(holding: "FORGED\(number)", receivedAt: receivedAt)
            #expect(hasSet(answer), "\(number)")
        }
        #expect(fetches.value == 1)
    }

    @Test func `forged tokens delay tokens with a new key by at most ten seconds`() async throws {
        let keys = try keys()
        #expect(hasSet(await keys.answer(holding: "FORGED")))
        published.value = "NEW"
        for second in 1...9 {
            now.value = now.value + .seconds(1)
            for number in 0..<100 {
                #expect(!hasSet(await keys.answer(holding: "FORGED\(second) \(number)")))
            }
            #expect(keys.known(holding: "NEW") == nil)
        }
        now.value = now.value + .seconds(1)
        // Any token makes the server ask again; then the forged ones are known to be forged.
        #expect(hasSet(await keys.answer(holding: "FORGED")))
        #expect(keys.known(holding: "NEW") != nil && fetches.value == 2)
        let receivedAt = now.value - .seconds(5)
        #expect(hasSet(await keys.answer(holding: "FORGED5 1", receivedAt: receivedAt)))
        #expect(fetches.value == 2)
    }

    @Test func `a key set does not decide about what was received after it was fetched`()
        async throws
    {
        let keys = try keys()
        #expect(hasSet(await keys.answer(holding: "FORGED")))
        // Apple may have changed its keys since; no keys are fetched within the pause.
        #expect(!hasSet(await keys.answer(holding: "NEW", receivedAt: now.value)))
        #expect(!hasSet(await keys.answer(holding: "NEW")))
        #expect(fetches.value == 1)
        now.value = now.value + .seconds(10)
        #expect(hasSet(await keys.answer(holding: "NEW", receivedAt: now.value - .seconds(1))))
        #expect(fetches.value == 2)
    }
}

extension RSAPrivateKey {
    /// The set of this key alone, as Apple publishes its keys.
    func keySet(as keyID: String) -> JSON {
        [
            "keys": [
                [
                    "kty": "RSA", "kid": .string(keyID), "use": "sig", "alg": "RS256",
                    "n": .string(Base64URL.encode(modulus)),
                    "e": .string(Base64URL.encode(exponent)),
                ]
            ]
        ]
    }
}
