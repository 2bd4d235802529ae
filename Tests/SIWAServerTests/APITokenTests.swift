import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWAServerRecords
import Testing

@testable import SIWAApplication
@testable import SIWAServer

@Suite struct APITokenTests {
    private let now = NumericDate(1_800_000_000)

    @Test
    func `a token has 32 random bytes`() throws {
        let tokens = try (0..<10).map { _ in try APITokenText.random().text.revealed() }
        #expect(Set(tokens).count == 10)
        for token in tokens {
            #expect(token.hasPrefix("siwa_"))
            #expect(try Base64URL.decode(String(token.dropFirst(5))).count == 32)
        }
    }

    @Test
    func `a token is found by its digest until it expires`() throws {
        let text = try APITokenText.random()
        let token = try text.token(
            "app", scopes: [.exchange], at: now, expiresAt: now + .seconds(60))
        let other = try APITokenText.random().token("x", scopes: [], at: now, expiresAt: nil)
        let list = APITokenList([other, token], readAt: .zero)
        let digest = try APITokenText.digest(of: text.text)
        #expect(list.token(digest, at: now) == token)
        #expect(list.token(digest, at: now + .seconds(60)) == nil)
        #expect(list.token(try APITokenText.digest(of: SecretText("siwa_x")), at: now) == nil)
    }

    @Test
    func `a list of tokens is used for less than five seconds`() {
        let list = APITokenList([], readAt: .seconds(100))
        #expect(list.isFresh(at: .milliseconds(104_999)))
        #expect(!list.isFresh(at: .seconds(105)))
    }

    @Test(arguments: ["Bearer siwa_a", "bearer siwa_a", "BEARER   siwa_a"])
    func `the authentication scheme is case-insensitive`(_ field: String) {
        #expect(APITokenText.bearer(field)?.revealed() == "siwa_a")
    }

    @Test(arguments: ["", "Bearer", "Basic siwa_a", "siwa_a"])
    func `other header fields contain no token`(_ field: String) {
        #expect(APITokenText.bearer(field) == nil)
    }
}

/// The tokens that a running server accepts.
@Suite struct APITokenServiceTests {
    @Test(arguments: ServiceFixture.Backend.available)
    func `a new token works immediately, and an unknown one is refused`(
        _ backend: ServiceFixture.Backend
    ) async throws {
        let fixture = try await ServiceFixture(backend)
        let replica = try fixture.replica()
        // The list is read once, and would be used for five seconds.
        let clocks = Clocks(
            now: fixture.clocks.now, timekeeper: Timekeeper(elapsed: { .zero }, sleep: { _ in }))
        let tokens = APITokens(replica.access, clocks: clocks) { [log = fixture.log] in log.add($0)
        }
        let text = try APITokenText.random()
        let field = "Bearer \(text.text.revealed())"
        let error = try await Diagnosis.thrown { try await tokens.scopes(field) }
        #expect(error.code == "unauthorized")
        _ = try fixture.store().add(
            text.token("app", scopes: [.erase], at: fixture.now.value, expiresAt: nil))
        #expect(try await tokens.scopes(field) == [.erase])
        await #expect(throws: Diagnosis.self) { try await tokens.scopes("Bearer siwa_x") }
    }
}
