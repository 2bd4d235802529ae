import Glibc
import SIWAJOSE
import SIWALifecycle
import SIWASystem
import SIWATestSupport
import SIWAVaultRecords
import Testing

@testable import SIWAServer

@Suite struct DurableWritesTests {
    @Test
    func `a token is unsaved, and kept, when it could not be stored, not while it is being stored`()
        async throws
    {
        let kept = Mutable(0)
        let fixture = try await ServiceFixture(.sqlite)
        let writes = DurableWrites(
            StoreAccess(try fixture.store(), on: try WorkerThreads(1)),
            keeper: TokenKeeper(on: try WorkerThreads(1)) { _ in
                kept.value += 1
                return { kept.value -= 1 }
            }
        ) { _ in }
        let token = try Self.token
        let (isDown, seen) = (Mutable(false), Mutable(-1))
        func write() async -> Bool {
            await writes.write("token_not_stored", losing: token) { _ throws(StoreError) in
                seen.value = writes.unsavedTokens
                if isDown.value { throw StoreError(.unreachable, "it is down") }
            }
        }
        #expect(await write() && seen.value == 0 && writes.unsavedTokens == 0 && kept.value == 0)
        isDown.value = true
        #expect(await !write() && writes.unsavedTokens == 1 && kept.value == 1)
        isDown.value = false
        await writes.drain()
        #expect(seen.value == 1 && writes.unsavedTokens == 0 && kept.value == 0)
        // At the end of the process, what was not stored stays where it is kept.
        isDown.value = true
        #expect(await !write() && writes.saveTokens().isEmpty)
        isDown.value = false
        await writes.drain()
        #expect(kept.value == 1)
    }

    private static var token: DurableWrites.Loss {
        get throws {
            .token(
                try UnsavedToken(
                    token: RefreshToken(SecretText("r-hush")),
                    user: VaultUser(ServiceFixture.app, validating: "001.a.1"), signedInAt: nil,
                    receivedAt: NumericDate(1_800_000_000)))
        }
    }

    /// As when another program holds the database's lock while the server ends.
    @Test(.timeLimit(.minutes(1)))
    func `a token whose attempt is still running is saved, and may be stored as well`() async throws
    {
        let saved = Mutable(0)
        let fixture = try await ServiceFixture(.sqlite)
        let writes = DurableWrites(
            StoreAccess(try fixture.store(), on: try WorkerThreads(1)),
            keeper: TokenKeeper(on: try WorkerThreads(1)) { _ in
                saved.value += 1
                let removal: TokenKeeper.Removal = {}
                return saved.value == 1 ? nil : removal
            }
        ) { _ in }
        let (attempts, isHeld) = (Mutable(0), Mutable(true))
        let isStored = await writes.write("token_not_stored", losing: try Self.token) {
            _ throws(StoreError) in
            attempts.value += 1
            if attempts.value == 1 { throw StoreError(.busy, "it is locked") }
            while isHeld.value { usleep(1000) }
        }
        #expect(!isStored)
        try await eventually("the next attempt runs") { attempts.value == 2 }
        // The first time, it could not be.
        #expect(saved.value == 1)
        #expect(writes.saveTokens().isEmpty && saved.value == 2)
        isHeld.value = false
        await writes.drain()
        #expect(writes.unsavedTokens == 0 && attempts.value == 2)
    }
}
