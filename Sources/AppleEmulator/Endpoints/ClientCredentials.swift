/// How a client says who it is: always in the body, the only way Apple offers.
struct ClientCredentials {
    let clientID: String
    let secret: String
    /// Where the checks of the client are written down.
    let trail: CheckTrail

    init(_ form: ReceivedForm) throws(Refusal) {
        clientID = try form.required("client_id")
        secret = try form.required("client_secret")
        trail = form.trail
    }
}
