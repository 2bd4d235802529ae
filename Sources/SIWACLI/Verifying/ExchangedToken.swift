internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle

extension Requests {
    /// Verifies the identity token of an exchange with Apple's keys; warns if they are not
    /// available, and its signature is not checked, and if this machine's clock is wrong.
    func verify(
        _ answer: TokenResponse, by rule: ExchangeVerification, at now: NumericDate
    ) async -> IdentityTokenVerification? {
        var keySet: KeySet?
        var obstacle = "Apple's key set does not have its key"
        if let keyID = answer.verificationKeyID {
            do throws(KeySetError) {
                keySet = try await AppleKeySource(network).keySet(holding: keyID)
            } catch {
                obstacle = Diagnosis(error).message
            }
        }
        let verification = rule.verify(answer, by: .apple(keySet), at: TokenTimes(now))
        if let verification, verification.isValid, !verification.isSigned {
            session.console.warn(
                "the signature of the identity token was not checked, as it came from Apple over "
                    + "TLS: \(obstacle)")
        }
        let warning = Finding.clockWarning(
            off: answer.date.map { $0 - now }, server: network.baseURL)
        if let warning { session.console.warn(warning) }
        return verification
    }
}
