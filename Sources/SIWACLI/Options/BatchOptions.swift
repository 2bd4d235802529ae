internal import CommandTable

/// The options of every batch, as they were typed.
struct BatchOptions: Sendable {
    /// Nil for a batch that takes its items elsewhere.
    var input: InputArgument?
    var output = OutputArgument.standard
    var concurrency = 16
    var rate: RateText?
    var isResuming = false
    /// How many of the last answers may be refusals.
    var maxRefused = PercentArgument.half

    static func parameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        (files + requests + resumption).map { $0.rerooted(at: path) }
    }

    /// With the brake, for a batch that ends tokens' lives.
    static func brakedParameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        (files + requests + brake + resumption).map { $0.rerooted(at: path) }
    }

    /// Without those about requests, for a batch that makes none.
    static func localParameters<Root>(at path: Path<Root, Self>) -> [Parameter<Root>] {
        (files + resumption).map { $0.rerooted(at: path) }
    }

    private static let files: [Parameter<Self>] = [
        .option(
            "input", \.input, value: "FILE",
            help: "Read items from FILE, a line each; - reads standard input.", completion: .file),
        .option(
            "output", \.output, value: "FILE",
            help: "Write a result a line to FILE, which must be empty; - is standard output.",
            completion: .file),
    ]

    private static let requests: [Parameter<Self>] = [
        .option(
            "concurrency", \.concurrency, value: "N", help: "Have at most N requests in flight."),
        .option(
            "rate", \.rate, value: "N/s",
            help: "Start at most N requests a second; each run on a shared vault counts its own."),
    ]

    private static let brake: [Parameter<Self>] = [
        .option(
            "max-refused", \.maxRefused, value: "PERCENT",
            help:
                "Stop when Apple refuses more than PERCENT of the last 200 items (50 unless set; 100 never stops)."
        )
    ]

    private static let resumption: [Parameter<Self>] = [
        .flag(
            "resume", \.isResuming,
            help: "Go on where an earlier run stopped: skip what the output already holds.")
    ]
}

/// Where lines come from: a file, or standard input.
struct InputArgument: ParameterValue, Hashable {
    /// Nil for standard input.
    let path: String?

    static let standard = Self(path: nil)

    private init(path: String?) { self.path = path }

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        path = argument == "-" ? nil : argument
    }

    static var expectation: String { "a path, or -" }

    var readsStandardInput: Bool { path == nil }

    var argumentDescription: String { path ?? "-" }
}

/// Where lines go: a file, or standard output.
struct OutputArgument: ParameterValue, Hashable {
    /// Nil for standard output.
    let path: String?

    static let standard = Self(path: nil)

    private init(path: String?) { self.path = path }

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        path = argument == "-" ? nil : argument
    }

    static var expectation: String { "a path, or -" }

    var argumentDescription: String { path ?? "-" }
}

/// A number of requests a second: `50/s`, or `50`.
struct RateText: ParameterValue, Hashable {
    let perSecond: Int

    init?(argument: String) {
        let digits = argument.hasSuffix("/s") ? argument.dropLast(2) : argument[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(digits), (1...1_000_000).contains(number)
        else { return nil }
        perSecond = number
    }

    static var expectation: String { "a rate such as 50/s" }

    var argumentDescription: String { "\(perSecond)/s" }
}

/// A share, from 0 to 100 percent: `50`, or `50%`.
struct PercentArgument: ParameterValue, Hashable {
    let percent: Int

    static let half = Self(percent: 50)

    private init(percent: Int) { self.percent = percent }

    init?(argument: String) {
        let digits = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(digits), (0...100).contains(number)
        else { return nil }
        percent = number
    }

    static var expectation: String { "a percentage from 0 to 100" }

    var argumentDescription: String { "\(percent)" }
}
