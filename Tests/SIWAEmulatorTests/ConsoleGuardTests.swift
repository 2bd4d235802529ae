import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Requests that may not use the console, and texts that must not become markup.
@Suite struct ConsoleGuardTests {
    /// A form as the console's page sends it, and one thing that another page gets wrong.
    enum Mutation: CaseIterable {
        case host, origin, site, token, method, type, path

        func apply(to request: inout MutableRequest, _ random: inout SeededRandom) {
            switch self {
            case .host: request.field("Host", random.pick(Self.hosts))
            case .origin: request.field("Origin", random.pick(Self.origins))
            case .site:
                request.field("Sec-Fetch-Site", random.pick(["cross-site", "same-site", ""]))
            case .token: request.token = random.spoil(request.token)
            case .method:
                request.method = random.pick(["GET", "PUT", "DELETE", "HEAD", "post", ""])
            case .type: request.field("Content-Type", random.pick(Self.types))
            case .path: request.path = random.pick(Self.paths)
            }
        }

        private static let hosts = [
            "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:9443", "", nil,
            "appleid.apple.com", "[::2]:9443", "0.0.0.0:9443", "localhost:9443@evil.example",
            "localhost:99999", "10.0.0.1",
        ]
        private static let origins = [
            "null", "https://evil.example", "http://localhost:9443", "https://localhost",
            "https://localhost:9444", "https://127.0.0.1:9443", "https://localhost:9443/", "",
            "https://localhost:9443.evil.example", "HTTPS://LOCALHOST:9443",
        ]
        private static let types = [
            "application/json", "text/plain", "multipart/form-data; boundary=x", nil, "",
            "application/x-www-form-urlencoded2",
        ]
        private static let paths = [
            "/emulator/faults/", "/emulator//faults", "/emulator/./faults", "/emulator/Faults",
            "/emulator/%66aults", "/emulator/faults%00", "/emulator", "/emulator/",
            "/emulator/console.js", "/emulator/events", "/emulator/requests/1",
            "/emulator/requests/../faults", "//emulator/faults",
        ]
    }

    @Test func `400 requests that a page of another origin could send change nothing`() async throws
    {
        let harness = try await EmulatorHarness()
        let token = try await harness.token()
        let controls = [
            "faults", "clock", "codes", "keys/rotate", "notifications", "users", "receiver",
            "faults/clear", "seed", "transfer", "switches", "reset", "notifications/resend",
            "keys/revoke",
        ]
        var random = SeededRandom(seed: 20_261_122)
        var counts: [Mutation: Int] = [:]
        for number in 0..<400 {
            let mutation = Mutation.allCases[number % Mutation.allCases.count]
            var request = MutableRequest(token: token)
            request.path = "/emulator/\(random.pick(controls))"
            mutation.apply(to: &request, &random)
            let answer = await harness.emulator.respond(to: request.request).response
            let isHarmless = request.method == "GET" || answer.status >= 400
            #expect(isHarmless, "\(mutation) \(request) \(answer.status)")
            counts[mutation, default: 0] += 1
        }
        // Controls that were carried out or tried are in the list of changes.
        #expect(await harness.look().text.contains("Nothing was changed yet"), "seed 20261122")
        #expect(counts.count == Mutation.allCases.count && counts.values.allSatisfy { $0 >= 57 })
        // The unchanged request is carried out, so the others were refused because of the change.
        let good = await harness.emulator.respond(to: MutableRequest(token: token).request).response
        #expect(try JSON(good.body) == ["queued": 1])
    }

    @Test func `text from a request is escaped`() async throws {
        let harness = try await EmulatorHarness()
        var random = SeededRandom(seed: 7)
        let alphabet = Array("<>\"'&=/;:(){}[]\\`!-x\u{0}\n\r\u{2028}é%+ ")
        for number in 0..<100 {
            let hostile =
                "<img src=x onerror=\(number)>\"'><script>&" + random.text(20, of: alphabet)
            _ = await harness.post(
                "/auth/token",
                [
                    ("client_id", hostile), ("grant_type", hostile), ("redirect_uri", hostile),
                    (hostile, hostile), ("client_secret", hostile), ("code", hostile),
                ],
                fields: ["User-Agent", "Host", "Accept", "Origin", "Authorization", hostile].map {
                    HTTPField($0, hostile)
                })
            _ = await harness.emulator.respond(
                to: EmulatorRequest(method: hostile, target: "/auth/\(hostile)"))
            let pages = await [
                harness.look(), harness.look("/emulator?user=%3Cimg%3E%22%27&show=%3Cimg%3E"),
                harness.look("/emulator/requests/\(2 * number + 1)"),
                harness.look("/emulator/requests/\(2 * number + 2)"),
            ]
            for page in pages {
                #expect(!page.text.contains("<img") && !page.text.contains("<script>"))
                #expect(page.status == 200)
            }
        }
    }

    @Test(arguments: [
        ("a link from elsewhere to the page", "/emulator", "cross-site", "navigate", 200),
        ("a fetch from elsewhere", "/emulator/requests", "cross-site", "no-cors", 403),
        ("a frame or image from elsewhere", "/emulator/events", "cross-site", "no-cors", 403),
        ("the page's own fetch", "/emulator/requests", "same-origin", "cors", 200),
    ])
    func `a GET request is answered according to its fetch metadata`(
        _ name: String, _ target: String, _ site: String, _ mode: String, _ status: Int
    ) async throws {
        let answer = await (try EmulatorHarness()).emulator.respond(
            to: EmulatorRequest(
                method: "GET", target: target,
                fields: [
                    HTTPField("Host", "127.0.0.1:9443"), HTTPField("Sec-Fetch-Site", site),
                    HTTPField("Sec-Fetch-Mode", mode),
                    HTTPField("Sec-Fetch-Dest", mode == "navigate" ? "document" : "empty"),
                ]))
        #expect(answer.response.status == status)
    }
}

/// A form of the console before it is sent.
struct MutableRequest: CustomStringConvertible {
    var method = "POST"
    var path = "/emulator/faults"
    var fields = EmulatorHarness.formFields
    var token: String

    init(token: String) { self.token = token }

    mutating func field(_ name: String, _ value: String?) {
        fields.removeAll { $0.name == name }
        if let value { fields.append(HTTPField(name, value)) }
    }

    var request: EmulatorRequest {
        let form = Form([("token", .plain(token)), ("json", .plain(#"{"status":503}"#))])
        return EmulatorRequest(
            method: method, target: path, fields: fields, body: form.encoded().revealed())
    }

    var description: String { "\(method) \(path) \(fields)" }
}

extension SeededRandom {
    fileprivate mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &self)]
    }

    fileprivate mutating func text(_ count: Int, of alphabet: [Character]) -> String {
        String((0..<count).map { _ in pick(alphabet) })
    }

    /// Another text: shorter, longer, or with one character changed.
    fileprivate mutating func spoil(_ text: String) -> String {
        switch Int.random(in: 0..<4, using: &self) {
        case 0: return ""
        case 1: return String(text.dropLast())
        case 2: return text + "a"
        default:
            var characters = Array(text)
            let index = Int.random(in: characters.indices, using: &self)
            characters[index] = characters[index] == "x" ? "y" : "x"
            return String(characters)
        }
    }
}
