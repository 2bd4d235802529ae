internal import SignInWithApple

/// The way to Apple, as the settings have it: opened when the first request goes out.
struct Network: Sendable {
    let baseURL: BaseURL
    let delivery: Delivery

    init(_ session: Session) throws(SettingsError) {
        let settings = session.settings
        let world = session.world
        baseURL = try settings.baseURL()
        let transport = DeferredTransport(
            settings: World.TransportSettings(
                authorityFile: try settings.authorityFile(in: world), variables: world.variables),
            opening: world.transport)
        delivery = Delivery(
            through: transport, policy: RetryPolicy(maxAttempts: try settings.maxAttempts()),
            until: Deadline(after: try settings.timeout(), by: world.clocks.timekeeper),
            clocks: world.clocks, trace: session.console.trace)
    }
}
