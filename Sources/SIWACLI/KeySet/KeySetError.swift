internal import JOSE

/// No key set is available.
enum KeySetError: Error {
    /// Apple was asked, and the request failed.
    case request(RequestError)
    /// Apple may not be asked, and no key set is stored.
    case offline
    /// Apple was asked a short while ago, and the request failed.
    case paused(until: NumericDate)
    /// Another process has been asking Apple for as long as this one had time.
    case busy
}

extension KeySetError: DiagnosableError {
    var diagnosis: Diagnosis {
        switch self {
        case .request(let error): error.diagnosis
        case .offline:
            Diagnosis(
                "no_key_set", "Apple's key set is not on this machine",
                hints: ["run 'siwa keys' once while connected to the network"], exitCode: .settings)
        case .paused(let end):
            Diagnosis(
                "paused", "Apple's keys are not requested again before \(end.rfc3339)",
                hints: ["the last request failed; 'siwa keys --refresh' sends one now"],
                exitCode: .temporary)
        case .busy:
            Diagnosis(
                "busy", "another siwa process is still fetching Apple's keys",
                hints: ["try later; if this continues, look for a siwa process that hangs"],
                exitCode: .temporary)
        }
    }
}
