import JOSE
import Lifecycle
import SIWACrypto
import Testing

@testable import SIWAServer

/// When Apple is asked for keys.
@Suite struct AppleKeySetsTests {
    private let now = Mutable(NumericDate(1_800_000_000))
    private let fetches = Mutable(0)

    private func keys() throws -> AppleKeySets {
        let key = try RSAPrivateKey.generate()
        let keySet: JSON = [
            "keys": [
                [
                    "kty": "RSA", "kid": "GENUINE", "use": "sig", "alg": "RS256",
                    "n": .string(Base64URL.encode(key.modulus)),
                    "e": .string(Base64URL.encode(key.exponent)),
                ]
            ]
        ]
        let (now, fetches) = (now, fetches)
        return AppleKeySets(now: { now.value }) { () async throws(TokenFailure) in
            fetches.value += 1
            return KeySet(keySet.bytes)
        }
    }

    @Test func `the keys of a file verify alone, in an exchange too`() async throws {
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

    @Test func `a set does not decide about what was received after it was fetched`() async throws {
        let keys = try keys()
        #expect(hasSet(await keys.answer(holding: "FORGED")))
        // Apple may have changed its keys since; nobody is asked within the pause.
        #expect(!hasSet(await keys.answer(holding: "NEW", receivedAt: now.value)))
        #expect(!hasSet(await keys.answer(holding: "NEW")))
        #expect(fetches.value == 1)
        now.value = now.value + .seconds(10)
        #expect(hasSet(await keys.answer(holding: "NEW", receivedAt: now.value - .seconds(1))))
        #expect(fetches.value == 2)
    }
}
