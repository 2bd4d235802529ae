internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

// What the emulator gives to a run.
extension ConformRun {
    /// Adds a user that only this run knows.
    func newUser() async throws -> TestUser {
        let name = "conform-\(runName)-\(users.count + 1)"
        let email = "\(name)@conform.example"
        let added = try await apple.control(
            "users",
            [
                "name": .string(name), "email": .string(email), "first_name": "Con",
                "last_name": "Form",
            ])
        let subject = added["user"]?["sub"]?.string ?? Self.subject(in: added) ?? ""
        let user = TestUser(name: name, subject: subject, email: email)
        users.append(user)
        return user
    }

    private static func subject(in answer: JSON) -> String? {
        answer["user"]?.members?.first?.value["sub"]?.string
    }

    /// Signs a user in at Apple.
    func issue(
        _ client: String, _ user: TestUser, nonce: String?, others: [JSON.Member] = []
    ) async throws -> (code: String, idToken: String) {
        var members = [
            JSON.Member("client_id", .string(client)), JSON.Member("user", .string(user.name)),
        ]
        if let nonce { members.append(JSON.Member("nonce", .string(nonce))) }
        let answer = try await apple.control("codes", .object(members + others))
        return (answer["code"]?.string ?? "", answer["id_token"]?.string ?? "")
    }

    /// The number of the latest request that the emulator received.
    func latestRequest() async throws -> Int {
        let last = try await requests(after: latestNumber, nil).last?["number"]?.integer
        latestNumber = last ?? latestNumber
        return latestNumber
    }

    /// The requests that the emulator received, which come in pages.
    func requests(after number: Int, _ path: String?) async throws -> [JSON] {
        var (found, last) = ([JSON](), number)
        while true {
            var query = [JSON.Member("after", .string(String(last)))]
            if let path { query.append(JSON.Member("path", .string(path))) }
            let answer = try await apple.control("requests", .object(query))
            let page = answer["requests"]?.elements ?? []
            guard let end = page.last?["number"]?.integer else { return found }
            found += page
            last = end
        }
    }

    /// What bad tokens are made from: a good one, another user's, and a genuine notification.
    func material(
        _ good: (code: String, idToken: String), _ client: String, _ user: TestUser,
        nonce: String?, raw: String?
    ) async throws -> GoodSignIn {
        let stranger = try await newUser()
        let other = try await issue(client, stranger, nonce: nonce, others: redirect(client))
        let note = try await apple.control(
            "notifications",
            [
                "type": "email-disabled", "user": .string(stranger.name),
                "client_id": .string(client),
            ])
        return try GoodSignIn(
            token: good.idToken, code: good.code,
            accessToken: await apple.accessToken(of: user.name), nonce: raw,
            audiences: file.audiences, siblingClient: sibling(of: client), other: other.idToken,
            notification: note["payload"]?.string ?? "")
    }

    /// The client of the other flow, unless the backend is meant to accept it here.
    private func sibling(of client: String) -> String? {
        let others = [file.signIn?.clientID, file.web?.clientID].compactMap { $0 }
        return others.first { $0 != client && !file.audiences.contains($0) }
    }

    private func redirect(_ client: String) -> [JSON.Member] {
        guard let web = file.web, web.clientID == client else { return [] }
        return [JSON.Member("redirect_uri", .string(web.redirectURI))]
    }

    /// Delivers the identity token of a deviation where the backend reads it; returns the one for
    /// the request.
    func deliver(
        _ deviation: Deviation, _ good: (code: String, idToken: String), _ client: String,
        _ flow: Flow, _ user: TestUser, nonce: String?, raw: String?
    ) async throws -> String {
        if let user = deviation.tokenUser {
            return try await issue(client, user, nonce: nonce, others: redirect(client)).idToken
        }
        guard let bad = deviation.token else { return good.idToken }
        let material = try await material(good, client, user, nonce: nonce, raw: raw)
        let token = try await bad.make(material, apple.issuer()).token
        if BadToken.unknownKeys.contains(bad.id) { lastUnknownKey = .now }
        let channel = channels[flow] ?? .both
        if channel != .request { try await apple.prepare(token, forExchangeOf: good.code) }
        return channel == .exchange ? good.idToken : token
    }
}

extension ConformFile.NonceRule.Form {
    /// The nonce of the token for a nonce that is given to the backend.
    func claim(_ raw: String) throws -> String {
        switch self {
        case .raw: raw
        case .sha256Hex: try SHA256.digest(raw).hexadecimal
        case .sha256Base64URL: Base64URL.encode(try SHA256.digest(raw))
        }
    }
}
