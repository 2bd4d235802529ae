package import SIWALifecycle

/// The connection to Apple with the current settings, opened when the first request is sent.
package struct AppleConnection: Sendable {
    package let session: Session
    package let baseURL: BaseURL
    let authorities: AuthorityFile?
    package let deadline: Deadline
    package let transportSettings: World.TransportSettings
    /// A timekeeper whose waits are ended by a signal.
    let timekeeper: Timekeeper
    package let delivery: Delivery
    /// Sends single requests; a signal ends them.
    package let transport: any Transport
    /// Sends the requests of batches, which end by themselves after a signal.
    package let feeds: any FeedTransport

    package init(_ session: Session) throws(SettingsError) {
        let settings = session.settings
        let world = session.world
        self.session = session
        baseURL = try settings.baseURL()
        authorities = try session.authorities()
        deadline = Deadline(after: try settings.timeout(), by: world.clocks.timekeeper)
        transportSettings = World.TransportSettings(
            authorityFile: authorities?.path, variables: world.variables)
        let feeds = DeferredTransport(settings: transportSettings, opening: world.transport)
        let ending = world.ending
        timekeeper = Timekeeper(elapsed: world.clocks.timekeeper.elapsed, sleep: ending.sleep)
        self.transport = BoundedTransport(base: feeds, ending: ending)
        self.feeds = feeds
        delivery = Delivery(
            through: self.transport,
            policy: RetryPolicy(maxAttempts: try settings.maxAttempts()), until: deadline,
            clocks: Clocks(now: world.clocks.now, timekeeper: timekeeper),
            trace: session.console.trace)
    }
}
