import SIWAJOSE
import SIWALifecycle
import Testing

/// A request under `/emulator/`, and the expected response.
struct ControlCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var method = "POST"
    let path: String
    var body = ""
    var fields = [HTTPField("Host", "localhost:9443")]
    let status: Int
    let text: String
}

extension ControlCase {
    static let all = gate + mistakes

    private static let gate = [
        ControlCase(
            testDescription: "from a web page", path: "reset",
            fields: [HTTPField("Host", "localhost"), HTTPField("Origin", "https://evil.example")],
            status: 403, text: "must not come from another page"),
        ControlCase(
            testDescription: "under another name", path: "reset",
            fields: [HTTPField("Host", "evil.example")], status: 403, text: "loopback"),
        ControlCase(
            testDescription: "under a name that begins well", path: "reset",
            fields: [HTTPField("Host", "127.0.0.1.evil.example")], status: 403, text: "loopback"),
        ControlCase(
            testDescription: "under no name", path: "reset", fields: [], status: 403,
            text: "loopback"),
        ControlCase(
            testDescription: "by address", path: "reset",
            fields: [HTTPField("Host", "127.0.0.1:80")], status: 200, text: #"{"reset":true}"#),
        ControlCase(
            testDescription: "by IPv6 address", path: "reset",
            fields: [HTTPField("Host", "[::1]:80")], status: 200, text: #"{"reset":true}"#),
    ]

    private static let mistakes = [
        ControlCase(
            testDescription: "no such control", path: "code", status: 404,
            text: "known are /emulator/codes, "),
        ControlCase(
            testDescription: "wrong method", method: "GET", path: "codes", status: 405,
            text: "must be POST"),
        ControlCase(
            testDescription: "no JSON", path: "codes", body: "client_id=x", status: 400,
            text: "the body is not JSON (line 1)"),
        ControlCase(
            testDescription: "no object", path: "codes", body: "[]", status: 400,
            text: "must be an object, not an array"),
        ControlCase(
            testDescription: "nothing", path: "codes", status: 400, text: "'client_id' is missing"),
        ControlCase(
            testDescription: "no such client", path: "codes", body: #"{"client_id":"x"}"#,
            status: 400, text: "'x' is not a client; known are com.example.app, com.example.web"),
        ControlCase(
            testDescription: "no such user", path: "codes",
            body: #"{"client_id":"com.example.app","user":"dave"}"#, status: 400,
            text: "the user does not exist; known are alice, bob, carol"),
        ControlCase(
            testDescription: "no such redirect", path: "codes",
            body: #"{"client_id":"com.example.web","redirect_uri":"https://x.example"}"#,
            status: 400, text: "'https://x.example' is not registered for com.example.web"),
        ControlCase(
            testDescription: "method without challenge", path: "codes",
            body: #"{"client_id":"com.example.app","code_challenge_method":"S256"}"#, status: 400,
            text: "needs a 'code_challenge'"),
        ControlCase(
            testDescription: "no such switch", path: "switches", body: #"{"code_life":1}"#,
            status: 400, text: "'code_life' is not known; known are order, "),
        ControlCase(
            testDescription: "no such setting", path: "switches", body: #"{"order":"any"}"#,
            status: 400, text: "'order' must be one of 'credential_first', 'malformed_first',"),
        ControlCase(
            testDescription: "no duration", path: "clock", body: #"{"offset":"10 m"}"#, status: 400,
            text: "'offset' must be a number of seconds, or a duration"),
        ControlCase(
            testDescription: "no such key", path: "keys/revoke", body: #"{"key_id":"ZZZZZZZZZZ"}"#,
            status: 400, text: "'ZZZZZZZZZZ' is not a key of this team; known are K1L2M3N4P5"),
        ControlCase(
            testDescription: "no keys at all", path: "keys/rotate", body: #"{"keys":0}"#,
            status: 400, text: "'keys' must be 1 to 10"),
        ControlCase(
            testDescription: "too many keys", path: "keys/rotate", body: #"{"keys":11}"#,
            status: 400, text: "'keys' must be 1 to 10"),
        ControlCase(
            testDescription: "a key that is not published", path: "keys/rotate",
            body: #"{"withdraw":"ZZZZZZZZZZ"}"#, status: 400,
            text: "'ZZZZZZZZZZ' is not published; published are "),
        ControlCase(
            testDescription: "a signing key that is not published", path: "keys/rotate",
            body: #"{"signing":"ZZZZZZZZZZ"}"#, status: 400,
            text: "'ZZZZZZZZZZ' is not published; published are "),
        ControlCase(
            testDescription: "a signing key and a number of keys", path: "keys/rotate",
            body: #"{"signing":"ZZZZZZZZZZ","keys":2}"#, status: 400,
            text: "'signing' excludes 'keys' and 'withdraw'"),
        ControlCase(
            testDescription: "no type", path: "notifications", status: 400,
            text: "'type' is missing"),
        ControlCase(
            testDescription: "no attempt", path: "notifications",
            body: #"{"type":"x","attempts":0}"#, status: 400, text: "'attempts' must be 1 to 10"),
        ControlCase(
            testDescription: "no network", path: "notifications",
            body: #"{"type":"x","url":"http://localhost/"}"#, status: 400,
            text: "this emulator has no network: leave 'url' out, and post 'payload'"),
    ]
}
