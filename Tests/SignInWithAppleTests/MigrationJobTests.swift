import SIWACrypto
import Testing

@testable import SIWAJOSE
@testable import SIWALifecycle

/// A migration with the test in place of Apple.
@Suite struct MigrationJobTests {
    private static let start = NumericDate(1_800_000_000)

    @Test func `no user is sent without the shared bearer token`() throws {
        var harness = try MigrationHarness()
        #expect(try harness.renew(at: Self.start) == "client_credentials")
        var first = try harness.item(1)
        let request = try harness.job.request(for: &first, at: Self.start)
        #expect(request.fields["Authorization"] == "Bearer a1")
        #expect(request.url == "https://appleid.apple.com/auth/usermigrationinfo")
        let form = SecretText(request.body).revealed()
        #expect(form.hasPrefix("client_id=com.example.app&client_secret=eyJ"))
        #expect(form.hasSuffix("&sub=user.1&target=R1C2P3N4T5"))
        #expect(try harness.renew(at: Self.start + .seconds(3539)) == nil)
        #expect(try harness.renew(at: Self.start + .seconds(3540)) == "client_credentials")
        var second = try harness.item(2)
        #expect(
            try harness.job.request(for: &second, at: Self.start).fields["Authorization"]
                == "Bearer a2")
    }

    @Test(arguments: [(nil, 3540), (3600, 3540), (100, 50), (7200, 3540), (Int.max, 3540)])
    func `a bearer token is replaced before it expires`(
        _ lifetime: Int?, _ renewal: Int
    ) throws {
        var harness = try MigrationHarness()
        _ = try harness.renew(at: Self.start, lifetime: lifetime)
        _ = try harness.ask(1)
        #expect(try harness.renew(at: Self.start + .seconds(renewal - 1)) == nil)
        #expect(try harness.renew(at: Self.start + .seconds(renewal)) != nil)
    }

    @Test(arguments: [0, -1, Int.min])
    func `a bearer token without a lifetime is used once`(_ lifetime: Int) throws {
        var harness = try MigrationHarness()
        _ = try harness.renew(at: Self.start, lifetime: lifetime)
        #expect(try harness.renew(at: Self.start) == nil)
        _ = try harness.ask(1)
        #expect(try harness.renew(at: Self.start) != nil)
    }

    @Test func `a bearer token that could end the header is refused`() throws {
        var harness = try MigrationHarness()
        let isTaken = harness.job.takePreparation(
            .ok(["access_token": "a\r\nX: y"]), at: Self.start)
        #expect(!isTaken)
        #expect(try harness.job.preparation(at: Self.start) != nil)
    }

    @Test func `a refused bearer token is replaced once, and all users are asked about again`()
        throws
    {
        var harness = try MigrationHarness()
        _ = try harness.renew(at: Self.start)
        #expect(try harness.answer(1, .done) == "done")
        var items = try (2...4).map { try harness.sent($0) }
        #expect(harness.judge(&items[0], .refusal("invalid_grant")) == "next")
        #expect(try harness.renew(at: Self.start) != nil)
        #expect(harness.judge(&items[1], .refusal("invalid_grant")) == "next")
        #expect(try harness.renew(at: Self.start) == nil)
        for item in items {
            var item = item
            _ = try harness.job.request(for: &item, at: Self.start)
            #expect(item.bearer?.number == 2)
            #expect(harness.judge(&item, .done) == "done")
        }
    }

    @Test func `one user who is refused with every bearer token does not stop the others`() throws {
        var harness = try MigrationHarness()
        _ = try harness.renew(at: Self.start)
        #expect(try harness.answer(1, .done) == "done")
        var unlucky = try harness.sent(2)
        for verdict in ["next", "next", "doubtful invalid_grant"] {
            #expect(harness.judge(&unlucky, .refusal("invalid_grant")) == verdict)
            _ = try harness.renew(at: Self.start)
            _ = try harness.job.request(for: &unlucky, at: Self.start)
        }
        #expect(try harness.answer(3, .done) == "done")
    }

    @Test func `four refused bearer tokens stop the run`() throws {
        var harness = try MigrationHarness()
        var verdicts: [String] = []
        for line in 1...4 {
            _ = try harness.renew(at: Self.start)
            verdicts.append(try harness.answer(line, .refusal("invalid_grant")))
        }
        #expect(verdicts == ["next", "next", "next", "stop invalid_grant"])
    }

    @Test func `before the first success, refusals are doubtful, and a hundred stop the run`()
        throws
    {
        var harness = try MigrationHarness()
        _ = try harness.renew(at: Self.start)
        for line in 1...99 {
            #expect(
                try harness.answer(line, .refusal("invalid_request")) == "doubtful invalid_request")
        }
        #expect(try harness.answer(100, .refusal("invalid_request")) == "stop invalid_request")
    }

    @Test(arguments: [true, false])
    func `after the first success, refusals concern only their users`(_ isResumed: Bool) throws {
        var harness = try MigrationHarness()
        if isResumed { harness.job.trust() }
        _ = try harness.renew(at: Self.start)
        if !isResumed { #expect(try harness.answer(1, .done) == "done") }
        for line in 2...300 {
            #expect(
                try harness.answer(line, .refusal("invalid_request")) == "refused invalid_request")
        }
        #expect(try harness.answer(301, .refusal("invalid_client")) == "stop invalid_client")
        #expect(try harness.answer(302, HTTPResponse(status: 503)) == "trouble")
        #expect(try harness.answer(303, .ok(["transfer_sub": ""])) == "trouble")
    }

    @Test func `a response that repeats the bearer token is not used`() throws {
        var harness = try MigrationHarness()
        _ = try harness.renew(at: Self.start, token: "a-long-bearer-token")
        var item = try harness.sent(1)
        let request = try harness.job.request(for: &item, at: Self.start)
        let verdict = harness.job.judged(
            HTTPResponse(
                status: 400,
                body: Array(#"{"error":"x","error_description":"a-long-bearer-token"}"#.utf8)),
            to: request, for: &item, at: Self.start)
        guard case .held(.refused(let error)) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(error.detail?.hasPrefix("(sha256:") == true)
    }

    @Test func `a response that repeats the client_secret is not used`() throws {
        var harness = try MigrationHarness()
        _ = try harness.renew(at: Self.start)
        var item = try harness.item(1)
        let request = try harness.job.request(for: &item, at: Self.start)
        guard
            case .held(.refused(let second)) = harness.job.judged(
                .echo(of: request), to: request, for: &item, at: Self.start)
        else {
            Issue.record("the user was migrated")
            return
        }
        #expect(second.detail?.contains("client_secret=(sha256:") == true)
    }

    @Test func `an import returns a new user id and an optional relay address`() throws {
        let request = MigrationRequest.admission(TransferID(unchecked: "t"))
        let full = MigratedUser(
            Array(
                #"{"sub":"u","email":"x@privaterelay.appleid.com","is_private_email":"true"}"#.utf8),
            to: request)
        #expect(full?.userID.rawValue == "u" && full?.transferID.rawValue == "t")
        #expect(full?.email == "x@privaterelay.appleid.com" && full?.isPrivateEmail == true)
        #expect(MigratedUser(Array(#"{"sub":"u"}"#.utf8), to: request)?.email == nil)
        #expect(MigratedUser(Array("{}".utf8), to: request) == nil)
        #expect(MigratedUser(Array("<html>".utf8), to: request) == nil)
    }
}

/// A job and the answers it gets.
private struct MigrationHarness {
    var job: MigrationJob
    private var tokens = 0

    init() throws {
        let key = SigningKey(try P256PrivateKey.generate(), id: KeyID(unchecked: "K1L2M3N4P5"))
        job = MigrationJob(
            Client(
                teamID: TeamID(unchecked: "A1B2C3D4E5"),
                clientID: ClientID(unchecked: "com.example.app"), signingKey: key,
                secretLifetime: .seconds(86_400)))
    }

    /// Gets a bearer token if the job wants one; answers which grant it asked for.
    mutating func renew(
        at now: NumericDate, lifetime: Int? = 3600, token: String? = nil
    ) throws -> String? {
        guard let request = try job.preparation(at: now) else { return nil }
        tokens += 1
        let lifetime = lifetime.map { [JSON.Member("expires_in", .integer($0))] } ?? []
        let answer = JSON.object(
            [JSON.Member("access_token", .string(token ?? "a\(tokens)"))] + lifetime)
        let isTaken = job.takePreparation(.ok(answer), at: now)
        #expect(isTaken)
        let form = SecretText(request.body).revealed()
        return form.split(separator: "&").first { $0.hasPrefix("grant_type=") }
            .map { String($0.dropFirst(11)) }
    }

    func item(_ line: Int) throws -> MigrationItem {
        try MigrationItem(
            SecretBytes("user.\(line)".utf8), line: line,
            half: .export(to: TeamID(unchecked: "R1C2P3N4T5")))
    }

    mutating func sent(_ line: Int) throws -> MigrationItem {
        var item = try item(line)
        _ = try job.request(for: &item, at: NumericDate(1_800_000_000))
        return item
    }

    mutating func ask(_ line: Int) throws -> HTTPRequest {
        var item = try item(line)
        return try job.request(for: &item, at: NumericDate(1_800_000_000))
    }

    mutating func answer(_ line: Int, _ response: HTTPResponse) throws -> String {
        var item = try sent(line)
        return judge(&item, response)
    }

    /// Takes a response to a request with the item's bearer token.
    mutating func judge(_ item: inout MigrationItem, _ response: HTTPResponse) -> String {
        let request = HTTPRequest(method: .post, url: "https://appleid.apple.com")
        return
            switch job.judged(response, to: request, for: &item, at: NumericDate(1_800_000_000))
        {
        case .finished(.done): "done"
        case .finished(.refused(let error)): "refused \(error.code.rawValue)"
        case .held(.refused(let error)): "doubtful \(error.code.rawValue)"
        case .held(.done): "doubtful done"
        case .next: "next"
        case .trouble: "trouble"
        case .stop(.refused(let error)): "stop \(error.code.rawValue)"
        case .stop: "stop"
        }
    }
}

extension HTTPResponse {
    fileprivate static let done = ok(["transfer_sub": "001234.0123456789abcdef.1830"])

    fileprivate static func ok(_ json: JSON) -> Self { Self(status: 200, body: json.bytes) }

    fileprivate static func refusal(_ code: String) -> Self {
        Self(status: 400, body: JSON.object([JSON.Member("error", .string(code))]).bytes)
    }
}
