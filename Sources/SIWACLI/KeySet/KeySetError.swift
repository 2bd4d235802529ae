internal import SignInWithApple

/// There is no key set to be had.
enum KeySetError: Error, Sendable {
    /// Apple was asked, and the request failed.
    case request(RequestError)
    /// Apple may not be asked, and nothing is kept.
    case offline
    /// Apple was asked a short while ago, and the request failed.
    case paused(until: NumericDate)
    /// Another process has been asking Apple for as long as this one had time.
    case busy
}

extension Diagnosis {
    init(_ error: KeySetError) {
        switch error {
        case .request(let error): self.init(error)
        case .offline:
            self.init(
                "no_key_set", "there is no key set of Apple's on this machine",
                hints: ["run 'siwa keys' once while there is a network"], exitCode: .settings)
        case .paused(let end):
            self.init(
                "paused", "Apple is not asked for its keys again before \(end.rfc3339)",
                hints: ["the last try failed; 'siwa keys --refresh' asks at once"],
                exitCode: .temporary)
        case .busy:
            self.init(
                "busy", "another siwa is fetching Apple's keys, and takes long",
                hints: ["try later; if it stays so, look for a siwa that hangs"],
                exitCode: .temporary)
        }
    }
}
