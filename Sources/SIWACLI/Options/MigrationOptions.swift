internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE

/// The options that export and import share.
struct MigrationOptions: Sendable {
    var acceptedAt: DateArgument?
    var isDryRun = false

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        all.map { $0.rerooted(at: path) }
    }

    private static let all: [Parameter<Self>] = [
        .option(
            "deadline", \.acceptedAt, value: "ACCEPTED",
            help: "When the transfer was accepted; shows how many of the 60 days are left."),
        .flag(
            "dry-run", \.isDryRun,
            help: "Print the requests of the first item with secrets masked; send nothing."),
    ]
}

/// The 60 days in which Apple maps the old user ids to the new ones.
struct MigrationWindow: Sendable {
    let acceptedAt: NumericDate
    let now: NumericDate

    private static let length = Duration.seconds(60 * 86_400)

    private var end: NumericDate { acceptedAt + Self.length }

    /// Whether the window has ended.
    var isOver: Bool { now >= end }

    /// The state of the window, in words.
    var words: String {
        if isOver {
            return
                "the 60 days ended \(Self.days(now - end)) ago, at \(end.rfc3339): Apple refuses "
                + "export and import; transfer the app back, and start again"
        }
        if acceptedAt > now {
            return "the transfer will be accepted in \(Self.days(acceptedAt - now)); import works "
                + "from then until \(end.rfc3339) (--deadline is the first day, not the last)"
        }
        let isLessThanTwo = end - now < .seconds(2 * 3600)
        let verb = isLessThanTwo ? "remains" : "remain"
        return "\(Self.days(end - now)) of the 60 days \(verb), until \(end.rfc3339)"
    }

    /// Whole days; hours if it is less than a day.
    private static func days(_ duration: Duration) -> String {
        duration < .seconds(3600) ? "less than an hour" : duration.words(units: 1)
    }
}
