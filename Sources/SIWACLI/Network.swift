internal import SignInWithApple

/// The way to Apple, as the settings have it: opened when the first request goes out.
struct Network: Sendable {
    let session: Session
    let baseURL: BaseURL
    let authorities: AuthorityFile?
    let deadline: Deadline
    let delivery: Delivery

    init(_ session: Session) throws(SettingsError) {
        let settings = session.settings
        let world = session.world
        self.session = session
        baseURL = try settings.baseURL()
        authorities = try settings.authorityFile(in: world)
        deadline = Deadline(after: try settings.timeout(), by: world.clocks.timekeeper)
        let transport = DeferredTransport(
            settings: World.TransportSettings(
                authorityFile: authorities?.path, variables: world.variables),
            opening: world.transport)
        delivery = Delivery(
            through: transport, policy: RetryPolicy(maxAttempts: try settings.maxAttempts()),
            until: deadline, clocks: world.clocks, trace: session.console.trace)
    }
}
