internal import SIWAConformance
internal import SIWACrypto
internal import SIWAEmulator
internal import SIWAJOSE
internal import SignInWithApple

extension InProcessApple {
    /// Identity tokens of a user that are wrong in one property each, signed by this emulator where
    /// Apple would sign: your server must refuse each whose result is `invalid`
    /// (docs/conformance.md).
    ///
    /// ```swift
    /// let emulator = try await InProcessApple()
    /// for bad in try await emulator.badTokens(nonce: "n-1") where bad.result == .invalid {
    ///     await #expect(throws: SignInWithAppleError.self, "\(bad.comment)") {
    ///         try await emulator.client.verify(
    ///             bad.token, nonce: "n-1", code: bad.code, accessToken: bad.accessToken)
    ///     }
    /// }
    /// ```
    ///
    /// Tokens whose fault is in the nonce, or in the hash of a code or an access token, are among
    /// them: they are refused only by a server that checks these. Verify them with `nonce`,
    /// `bad.code` and `bad.accessToken`.
    ///
    /// - Parameters:
    ///   - user: the name of the user.
    ///   - clientID: the client; nil for that of ``client``.
    ///   - nonce: the raw nonce of the sign-in; the tokens have its SHA-256 in hexadecimal.
    /// - Throws: ``EmulatorError`` if the user or the client does not exist.
    public func badTokens(
        of user: String = "alice", for clientID: String? = nil, nonce: String = "a-raw-nonce"
    ) async throws(EmulatorError) -> [ConformanceVectors.Test] {
        let clientID = clientID ?? client.clientID
        do {
            let hashed = try SHA256.digest(nonce).hexadecimal
            let good = try await signIn(user, to: clientID, nonce: hashed)
            let note = try await control(
                "notifications",
                ["type": "email-disabled", "user": .string(user), "client_id": .string(clientID)])
            let issuer = Issuer(await emulator.publishedKeys)
            let stranger = try await GoodSignIn(token: good.identityToken).signed(
                claims: [("sub", "001999.0b1c2d3e4f5061728394a5b6c7d8e9fa.2114")], by: issuer)
            let model = try GoodSignIn(
                token: good.identityToken, code: good.code,
                accessToken: await emulator.accessToken(of: user), nonce: nonce,
                audiences: [clientID], other: stranger,
                notification: note["payload"]?.string ?? "")
            let vectors = try await Vector.identityTokens(from: model, by: issuer)
            return vectors.filter { $0.made.keySet == nil }.map(ConformanceVectors.Test.init)
        } catch let error as EmulatorError {
            throw error
        } catch {
            throw EmulatorError("\(error)")
        }
    }
}
