import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Memory does not grow with the number of requests.
@Suite(.blocking) struct ServerMemoryTests {
    @Test(.timeLimit(.minutes(120)), arguments: VaultBackend.available)
    func `memory use does not grow with the number of requests`(_ backend: VaultBackend)
        async throws
    {
        let count = wished("SIWA_SERVER_REQUESTS", usual: 8000)
        let load = try await RequestLoad(backend)
        let first = min(10_000, count / 2)
        try await load.send(0..<first)
        let before = try load.memory()
        try await load.send(first..<count)
        let after = try load.memory()
        print("memory: \(backend.rawValue), \(count) requests, \(before) KiB, then \(after) KiB")
        // In KiB: half a KiB for each request, and never more than four MiB.
        #expect(after - before < min((count - first) / 2, 4096))
        #expect(try await load.server.stop().ending == .exit(0))
    }
}
