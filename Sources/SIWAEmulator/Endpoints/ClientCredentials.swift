/// The credentials of a client: always in the body, as Apple requires.
struct ClientCredentials {
    let clientID: String
    let secret: String

    /// - Parameter missingSecret: The error without a client_secret.
    init(_ form: ReceivedForm, missingSecret: Refusal.Code) throws(Refusal) {
        clientID = try form.required("client_id")
        secret = try form.required("client_secret", or: missingSecret)
    }
}
