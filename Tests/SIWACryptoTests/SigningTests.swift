import Foundation
import SIWACrypto
import SIWATestSupport
import Testing

@Suite(.blocking) struct SigningTests {
    @Test func `10,000 signatures have 64 bytes each and verify, with leading zeros`() async throws
    {
        let key = try P256PrivateKey(derRepresentation: RFC7515.der(.apple))
        let known = try P256PublicKey(x963Representation: RFC7515.point)
        var leadingZeros = 0
        var distinct: Set<[UInt8]> = []
        for number in 0..<10_000 {
            // Leaves threads for other tests.
            if number % 50 == 0 { await Task.yield() }
            let message = Array("message \(number)".utf8)
            let signature = try key.sign(for: message)
            let raw = signature.rawRepresentation
            distinct.insert(raw)
            guard raw.count == 64, try known.verifies(signature, for: message) else {
                Issue.record("signature \(number) is wrong")
                return
            }
            if raw[0] == 0 || raw[32] == 0 { leadingZeros += 1 }
        }
        // About 78 are expected; none at all has a probability of e^-78.
        #expect(leadingZeros > 0)
        #expect(distinct.count == 10_000)
    }

    // In processes of their own: other tests of this one allocate, too. The least growth of four
    // rounds counts, and a leak is in every round. Sanitizers keep what is freed, on purpose.
    @Test(.disabled(if: isUnderSanitizer, "a sanitizer keeps what is freed"))
    func `10,000 signatures do not increase memory use`() async {
        await #expect(processExitsWith: .success) {
            let message = Array("a message".utf8)
            let key = try P256PrivateKey(derRepresentation: RFC7515.der(.apple))
            // 2500 times the smallest thing a signature allocates (72 bytes) is more than this.
            #expect(try growth { for _ in 0..<2500 { _ = try key.sign(for: message) } } < 170)
        }
    }

    @Test(.disabled(if: isUnderSanitizer, "a sanitizer keeps what is freed"))
    func `2,000 imports of a key do not increase memory use`() async {
        await #expect(processExitsWith: .success) {
            let least = try growth {
                for _ in 0..<250 {
                    _ = try P256PrivateKey(derRepresentation: RFC7515.der(.apple))
                    _ = try? P256PrivateKey(derRepresentation: SecretBytes([0x30, 0x03, 1, 2, 3]))
                }
            }
            #expect(least < 64)
        }
    }

    @Test func `many tasks can sign with one key at once`() async throws {
        let key = try P256PrivateKey.generate()
        let valid = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let message = Array("message \(number)".utf8)
                    let signature = try key.sign(for: message)
                    return try key.publicKey.verifies(signature, for: message)
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(valid == 64)
    }

    /// Whether the address or the thread sanitizer is part of this program.
    private static let isUnderSanitizer =
        ["__asan_init", "__tsan_init"].contains { (name: String) in dlsym(nil, name) != nil }
}

/// The least growth of this process's memory over four rounds, in kilobytes.
private func growth(_ round: () throws -> Void) throws -> Int {
    var least = Int.max
    for _ in 0..<4 {
        let before = try residentKilobytes()
        try round()
        least = min(least, try residentKilobytes() - before)
    }
    return least
}

private func residentKilobytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return try #require(line.flatMap { Int($0.filter(\.isNumber)) })
}
