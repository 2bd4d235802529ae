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
            // Without a limit, an answer has all rows, and may be longer than the client reads.
            var query = [
                JSON.Member("after", .string(String(last))), JSON.Member("limit", "10000"),
            ]
            if let path { query.append(JSON.Member("path", .string(path))) }
            let answer = try await apple.control("requests", .object(query))
            let page = answer["requests"]?.elements ?? []
            guard let end = page.last?["number"]?.integer else { return found }
            found += page
            last = end
        }
    }

    /// What bad tokens are made from: a good one, another user's, and a genuine notification.
    ///
    /// - Parameter channel: where the token is delivered: that of an exchange has the hash of an
    ///   access token.
    private func material(
        _ good: (code: String, idToken: String), _ client: String, _ user: TestUser,
        _ channel: Channel, _ issuer: Issuer, nonce: String?, raw: String?
    ) async throws -> GoodSignIn {
        let stranger = try await newUser()
        let other = try await issue(client, stranger, nonce: nonce, others: redirect(client))
        let note = try await apple.control(
            "notifications",
            [
                "type": "email-disabled", "user": .string(stranger.name),
                "client_id": .string(client),
            ])
        let accessToken = try await apple.accessToken(of: user.name)
        let token = try await channel.token(good.idToken, accessToken, issuer)
        return try GoodSignIn(
            token: token, code: good.code, accessToken: accessToken, nonce: raw,
            audiences: file.audiences, siblingClient: sibling(of: client), other: other.idToken,
            notification: note["payload"]?.string ?? "")
    }

    /// The client of the other flow; nil if the file describes one client.
    func sibling(of client: String) -> String? {
        [file.signIn?.clientID, file.web?.clientID].compactMap { $0 }.first { $0 != client }
    }

    func redirect(_ client: String) -> [JSON.Member] {
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
            let token = try await issue(client, user, nonce: nonce, others: redirect(client))
                .idToken
            guard deviation.hasHashOfCode else { return token }
            let hash = JSON.string(try leftHalfOfHash(good.code))
            return try await GoodSignIn(token: token)
                .signed(claims: [("c_hash", hash)], by: apple.issuer())
        }
        guard let bad = deviation.token else { return good.idToken }
        let channel = deviation.channel ?? channels[flow] ?? .both
        let issuer = try await apple.issuer()
        let material = try await material(
            good, client, user, channel, issuer, nonce: nonce, raw: raw)
        let token = try await bad.make(material, issuer).token
        if BadToken.unknownKeys.contains(bad.id) { lastUnknownKey = .now }
        if channel != .request {
            try await apple.prepare(
                token, with: material.accessToken, forExchangeOf: good.code)
        }
        return channel == .exchange ? good.idToken : token
    }
}

extension Channel {
    /// The good token as this channel delivers it: with `c_hash` in a request, with `at_hash` from
    /// an exchange, and with both where it must be good in both places.
    fileprivate func token(
        _ idToken: String, _ accessToken: String, _ issuer: Issuer
    ) async throws -> String {
        if self == .request { return idToken }
        var changes: [(String, JSON?)] = [("at_hash", .string(try leftHalfOfHash(accessToken)))]
        if self == .exchange { changes.append(("c_hash", nil)) }
        return try await GoodSignIn(token: idToken).signed(claims: changes, by: issuer)
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
