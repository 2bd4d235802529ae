internal import SIWAConformance
internal import SIWACrypto
internal import SIWAEmulator
internal import SIWAJOSE
internal import SIWALifecycle

/// An emulator in another process, behind its control requests.
struct RemoteApple: Apple {
    /// Without a slash at the end.
    let url: String
    let client: BackendClient

    private static let timeout = Duration.seconds(30)
    /// The requests that only read.
    private static let readOnly: Set<String> = [
        "requests", "notifications/sent", "keys/private", "sessions",
    ]

    /// - Throws: `Failure` if the emulator does not answer or refuses the request.
    func control(_ name: String, _ body: JSON) async throws -> JSON {
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await client.send(
                Self.readOnly.contains(name) ? "GET" : "POST", request(name, body),
                timeout: Self.timeout)
        } catch {
            throw Failure(
                code: "temporary", message: "no emulator answers at \(url): \(error.message)",
                hints: ["start it: siwa-emulator serve DIR", "or leave --emulator out"],
                exitCode: .temporary)
        }
        guard let answer = try? JSON(response.body), answer.members != nil else {
            throw Failure.settings(
                "\(url) answered with status \(response.status) and no JSON",
                hints: ["name a running siwa-emulator: --emulator http://127.0.0.1:9443"])
        }
        guard response.status == 200 else {
            let reason = answer["error_description"]?.string ?? "status \(response.status)"
            throw Failure.settings(
                "the emulator at \(url) refused '\(name)': \(reason)",
                hints: ["give its emulator.json the clients of FILE, and start it again"])
        }
        return answer
    }

    private func request(_ name: String, _ body: JSON) -> HTTPRequest {
        let address = "\(url)/emulator/\(name)"
        guard Self.readOnly.contains(name) else {
            return HTTPRequest(
                method: .post, url: address,
                fields: [HTTPField("Content-Type", "application/json")],
                body: SecretBytes(body.bytes))
        }
        let query = (body.members ?? []).map { ($0.name, Form.Value.plain($0.value.string ?? "")) }
        let text = String(decoding: Form(query).encoded().revealed(), as: UTF8.self)
        return HTTPRequest(method: .get, url: text.isEmpty ? address : "\(address)?\(text)")
    }

    func issuer() async throws -> Issuer {
        let keys = try EmulatorKeys(privateDocument: await control("keys/private"))
        return Issuer(
            keys,
            bait: { keys, certificates in
                let paths = try await control(
                    "baits", ["keys": keys, "certificates": .string(certificates)])
                return Issuer.Bait(
                    keySetURL: url + (paths["jku"]?.string ?? ""),
                    certificatesURL: url + (paths["x5u"]?.string ?? ""))
            })
    }

    func prepare(
        _ idToken: String, with accessToken: String, forExchangeOf code: String
    ) async throws {
        _ = try await control(
            "tokens",
            [
                "code": .string(code), "token": .string(idToken), "deliver": "exchange",
                "access_token": .string(accessToken),
            ])
    }

    func accessToken(of name: String) async throws -> String {
        let answer = try await control("sessions/access-token", ["user": .string(name)])
        return answer["access_token"]?.string ?? ""
    }

    func revokedSessions(of name: String) async throws -> Int {
        let answer = try await control("sessions", ["user": .string(name)])
        return (answer["sessions"]?.elements ?? []).count { $0["revoked"] == true }
    }
}
