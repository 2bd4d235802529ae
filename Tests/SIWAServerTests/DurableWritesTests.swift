import SIWAJOSE
import SIWALifecycle
import SIWASystem
import SIWATestSupport
import SIWAVaultRecords
import Testing

@testable import SIWAServer

@Suite struct DurableWritesTests {
    @Test func `a token is unsaved when it could not be stored, not while it is being stored`()
        async throws
    {
        let fixture = try await ServiceFixture(.sqlite)
        let writes = DurableWrites(
            StoreAccess(try fixture.store(), on: try WorkerThreads(1)), savedTokens: 0
        ) { _ in }
        let token = DurableWrites.Loss.token(
            try UnsavedToken(
                token: RefreshToken(SecretText("r-hush")),
                user: VaultUser(ServiceFixture.app, validating: "001.a.1"), signedInAt: nil,
                receivedAt: fixture.now.value))
        let (isDown, seen) = (Mutable(false), Mutable(-1))
        func write() async -> Bool {
            await writes.write("token_not_stored", losing: token) { _ throws(StoreError) in
                seen.value = writes.unsavedTokens
                if isDown.value { throw StoreError(.unreachable, "it is down") }
            }
        }
        #expect(await write() && seen.value == 0 && writes.unsavedTokens == 0)
        isDown.value = true
        #expect(await !write() && writes.unsavedTokens == 1)
        isDown.value = false
        await writes.drain()
        #expect(seen.value == 1 && writes.unsavedTokens == 0)
    }
}
