import Foundation
import FoundationNetworking
import SIWACrypto
import SIWAEmulator
import SIWAEmulatorServer
import SIWAHTTPServer
import SIWAJOSE
import SIWALifecycle
import Testing

/// An emulator on a free port, and the ways to talk to it.
struct Served: Sendable {
    static let client = "com.example.app"
    static let website = "com.example.web"
    static let callback = "https://example.com/callback"

    private static let shared = Task {
        (keys: try await EmulatorKeys.generate(), signing: try P256PrivateKey.generate())
    }

    let url: String
    let emulator: AppleEmulator
    let key: P256PrivateKey

    /// Serves while `body` runs.
    static func run(
        identity: TLSIdentity? = nil,
        _ body: (Served) async throws -> Void
    ) async throws {
        let (keys, signing) = try await shared.value
        let configuration = EmulatorConfiguration(
            teamID: TeamID(unchecked: "A1B2C3D4E5"),
            clients: [
                EmulatedClient(clientID: ClientID(unchecked: client), kind: .app),
                EmulatedClient(
                    clientID: ClientID(unchecked: website), kind: .web, redirectURIs: [callback]),
            ],
            keys: [
                EmulatedKey(keyID: KeyID(unchecked: "K1L2M3N4P5"), publicKey: signing.publicKey)
            ],
            users: [EmulatedUser(name: "alice", userID: EmulatedUser.freshUserID())])
        let emulator = AppleEmulator(
            configuration: configuration, keys: keys,
            clock: { NumericDate(Int(Date().timeIntervalSince1970)) })
        try await EmulatorServer.serving(emulator, identity: identity) { server in
            try await body(Served(url: server.url, emulator: emulator, key: signing))
        }
    }

    var port: UInt16 { UInt16(url.split(separator: ":").last ?? "") ?? 0 }

    /// A form that exchanges `code`, with a good secret.
    func exchange(_ code: String) throws -> String {
        let client = Client(
            teamID: TeamID(unchecked: "A1B2C3D4E5"), clientID: ClientID(unchecked: Self.client),
            signingKey: SigningKey(key, id: KeyID(unchecked: "K1L2M3N4P5")))
        let now = NumericDate(Int(Date().timeIntervalSince1970))
        let form = Form([
            ("client_id", .plain(Self.client)),
            (
                "client_secret",
                .secret(try #require(try client.secretAtOnce(for: client.clientID, at: now)).text)
            ),
            ("grant_type", .plain("authorization_code")), ("code", .plain(code)),
        ])
        return SecretText(form.encoded()).revealed()
    }

    /// Sends a request as an ordinary client.
    func send(
        _ method: String, _ path: String, body: String = "", type: String = Form.contentType,
        on session: URLSession = .shared
    ) async throws -> HTTPResponse {
        var request = URLRequest(url: try #require(URL(string: url + path)))
        request.httpMethod = method
        if method == "POST" { request.httpBody = Data(body.utf8) }
        request.setValue(type, forHTTPHeaderField: "Content-Type")
        let (data, response) = try await session.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        let fields = http.allHeaderFields.map { HTTPField("\($0)", "\($1)") }
        return HTTPResponse(status: http.statusCode, fields: fields, body: Array(data))
    }

    /// Carries out a control request over the socket.
    @discardableResult
    func control(_ name: String, _ body: JSON = [:]) async throws -> JSON {
        let answer = try await send(
            "POST", "/emulator/" + name, body: body.text, type: "application/json")
        try #require(answer.status == 200)
        return try JSON(answer.body)
    }
}
