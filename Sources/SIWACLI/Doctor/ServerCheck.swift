internal import SIWAApplication

/// Says that the settings of siwa-server are not examined here: a mistake in them would look well.
struct ServerCheck: Sendable {
    private let context: DoctorContext

    init(_ context: DoctorContext) { self.context = context }

    /// Empty if the configuration has no server.
    var lines: [CheckLine] {
        guard context.settings.file?.server != nil else { return [] }
        return [
            CheckLine(
                "server", .skipped, "the object server of the configuration is not examined here",
                advice: "siwa-server check examines it")
        ]
    }
}
