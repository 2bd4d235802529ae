package import SIWAJOSE

/// No key set is available.
package enum KeySetError: Error {
    /// The request to Apple failed.
    case request(RequestError)
    /// Requests are not allowed, and no key set is stored.
    case offline
    /// A request failed a short time ago.
    case paused(until: NumericDate)
    /// Another process was fetching the key set until this one ran out of time.
    case busy
    /// The key set that is kept is too old to be used.
    case tooOld(fetchedAt: NumericDate, reason: String)
}

extension KeySetError: DiagnosableError {
    package var diagnosis: Diagnosis {
        switch self {
        case .request(let error): error.diagnosis
        case .offline:
            Diagnosis(
                .noKeySet, "Apple's key set is not on this machine",
                hints: ["run 'siwa keys' once while connected to the network"], exitCode: .settings)
        case .paused(let end):
            Diagnosis(
                .paused, "Apple's keys are not requested again before \(end.rfc3339)",
                hints: ["the last request failed; 'siwa keys --refresh' sends one now"],
                exitCode: .temporary)
        case .tooOld(let fetchedAt, let reason):
            Diagnosis(
                .keysUnavailable,
                "Apple's keys of \(fetchedAt.rfc3339) are more than seven days old: \(reason)",
                hints: ["check the network to Apple, then run 'siwa keys --refresh'"],
                exitCode: .temporary)
        case .busy:
            Diagnosis(
                .busy, "another siwa process is still fetching Apple's keys",
                hints: ["try later; if this continues, look for a siwa process that hangs"],
                exitCode: .temporary)
        }
    }
}
