import Foundation
import SIWACrypto
import SIWACurlTransport
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// A vault in a real database with the users of an emulator.
final class VaultFixture: Sendable {
    let apple: LocalApple
    let people: Population
    let url: String
    let keyFile: String
    /// Resources of the fixture, such as a server.
    private let backend: VaultBackend.Running

    /// Creates a vault, and stores a token for every user of the emulator.
    ///
    /// - Parameters:
    ///   - people: who signs in, all of them.
    ///   - server: where a vault on PostgreSQL is, in place of the shared one.
    init(
        _ backend: VaultBackend, _ people: Population, on server: PostgresServer? = nil
    ) async throws {
        self.people = people
        apple = try await LocalApple(users: people.members)
        self.backend = try await backend.start(in: apple.folder, on: server)
        url = self.backend.url
        keyFile = apple.folder.path("vault.key")
        try apple.folder.write("vault.key", try VaultKeyRing.newLine(number: 1).revealed())
        try #require(chmod(keyFile, 0o600) == 0)
        try Vault.create(try openVaultStore(url, timeout: .eachStatement(.seconds(60))), try keys)
    }

    /// What siwa needs to find the vault.
    var environment: [String: String] {
        ["SIWA_VAULT_URL": url, "SIWA_VAULT_KEY_FILE": keyFile]
    }

    private var keys: VaultKeyRing {
        get throws { try VaultKeyRing(SecretBytes(try apple.folder.contents("vault.key"))) }
    }

    /// The vault as another process sees it.
    func vault() throws -> Vault {
        try Vault(
            try openVaultStore(url, timeout: .eachStatement(.seconds(60))), try keys,
            by: VaultActor(command: "test", host: "test"))
    }

    func user(_ number: Int) -> VaultUser {
        VaultUser(
            ClientID(unchecked: "com.example.app"), UserID(unchecked: people.userID(number)))
    }

    /// Has the users sign in and their tokens stored, without the cost of a process for each.
    ///
    /// - Returns: the fingerprints of the tokens.
    func store(_ numbers: [Int]) async throws -> Set<String> {
        let tokens = try tokenClient()
        let vault = try vault()
        // An event in the second of a sign-in is about an earlier one.
        let past = NumericDate(Int(Date().timeIntervalSince1970) - 60)
        var fingerprints: Set<String> = []
        for group in stride(from: 0, to: numbers.count, by: 500) {
            var items: [VaultItem] = []
            for number in numbers[group..<min(group + 500, numbers.count)] {
                let token = try await token(of: number, tokens)
                fingerprints.insert(token.text.fingerprint)
                items.append(
                    VaultItem(user: user(number), token: token, storedAt: past, changedAt: past))
            }
            try vault.take(items, at: past)
        }
        return fingerprints
    }

    /// Stores tokens that Apple does not know, for what asks it nothing.
    func storeMade(_ numbers: ClosedRange<Int>) throws {
        let vault = try vault()
        let past = NumericDate(Int(Date().timeIntervalSince1970) - 60)
        for start in stride(from: numbers.lowerBound, through: numbers.upperBound, by: 500) {
            let items = (start...min(start + 499, numbers.upperBound)).map { number in
                VaultItem(
                    user: user(number), token: RefreshToken(SecretText("r.made.\(number)")),
                    storedAt: past, changedAt: past)
            }
            try vault.take(items, at: past)
        }
    }

    private func token(of number: Int, _ tokens: TokenClient) async throws -> RefreshToken {
        let code = try await apple.code([.init("user", .string(people.name(number)))])
        let answer = try await tokens.exchange(AuthorizationCode(SecretText(code)))
        return try #require(answer.refreshToken)
    }

    private func tokenClient() throws -> TokenClient {
        let configuration = try JSON(try apple.folder.contents("apple/config.json"))
        let profile = try #require(configuration["profiles"]?["app"])
        let key = try #require(profile["private_key"]?.string)
        let text = SecretBytes(try apple.folder.contents("apple/\(key)"))
        let clock = ContinuousClock()
        let start = clock.now
        let timekeeper = Timekeeper(
            elapsed: { clock.now - start }, sleep: { try await Task.sleep(for: $0) })
        return TokenClient(
            client: Client(
                teamID: TeamID(unchecked: try #require(profile["team_id"]?.string)),
                clientID: ClientID(unchecked: "com.example.app"),
                signingKey: SigningKey(
                    try PrivateKeyText(text).privateKey(),
                    id: KeyID(unchecked: try #require(profile["key_id"]?.string)))),
            baseURL: try BaseURL(validating: apple.url),
            delivery: Delivery(
                through: try CurlTransport(authorityFile: apple.folder.path("apple/ca.pem")),
                until: Deadline(after: .seconds(3600), by: timekeeper),
                clocks: Clocks(
                    now: { NumericDate(Int(Date().timeIntervalSince1970)) },
                    timekeeper: timekeeper)))
    }

    /// Changes the database like an attacker without the key.
    @discardableResult
    func run(_ sql: String, _ values: Value...) throws -> [[Value]] { try run(sql, values) }

    @discardableResult
    func run(_ sql: String, _ values: [Value]) throws -> [[Value]] {
        let connector = try connector(of: url, timeout: .eachStatement(.seconds(60)))
        return try connector.connect(creating: false).run(sql, values)
    }

    /// The results that a batch printed, and the object of its summary under `--json`.
    static func results(_ result: ProgramResult) throws -> (lines: [JSON], summary: JSON?) {
        let summary = result.errors.split(separator: "\n")
            .compactMap { try? JSON(text: String($0))["summary"] }
        return (
            try result.output.split(separator: "\n").map { try JSON(text: String($0)) },
            summary.first
        )
    }

    /// Every token of the vault, by its user.
    func opened() throws -> [VaultUser: [(state: VaultState, token: String)]] {
        let vault = try vault()
        var all: [VaultUser: [(state: VaultState, token: String)]] = [:]
        var last: VaultRowKey?
        while true {
            let page = try vault.store.records(VaultFilter(), after: last, limit: 1000)
            #expect(page.damaged == [])
            guard let next = page.next else { return all }
            for record in page.records {
                all[record.user, default: []].append(
                    (record.state, try vault.token(of: record).text.revealed()))
            }
            last = next
        }
    }
}

/// A database that a vault can be in.
enum VaultBackend: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite
    case postgres

    var testDescription: String { rawValue }

    /// A database that exists until it is released.
    final class Running: Sendable {
        let url: String
        private let server: (any Sendable)?

        init(url: String, server: (any Sendable)? = nil) { (self.url, self.server) = (url, server) }
    }

    /// The backends of this machine.
    static var available: [VaultBackend] {
        PostgresServer.isAvailable ? allCases : [.sqlite]
    }

    func start(in folder: TemporaryFolder, on server: PostgresServer?) async throws -> Running {
        switch self {
        case .sqlite: return Running(url: "sqlite:" + folder.path("vault.db"))
        case .postgres:
            let server = if let server { server } else { try await PostgresServer.shared() }
            return Running(url: try await server.database(), server: server)
        }
    }
}

/// A whole number in the environment, for the long run by hand, or `usual`.
func wished(_ variable: String, usual: Int) -> Int {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? usual
}
