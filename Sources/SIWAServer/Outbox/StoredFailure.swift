internal import SIWACLI

/// Why an attempt failed, as the outbox stores it: `CODE: MESSAGE`.
struct StoredFailure {
    /// The error code.
    let code: String
    /// What happened.
    let message: String

    init(_ diagnosis: Diagnosis) { (code, message) = (diagnosis.code, diagnosis.message) }

    /// Reads ``text``.
    init(text: String) {
        code = String(text.prefix { $0 != ":" })
        message = String(text.dropFirst(code.count).drop { $0 == ":" || $0 == " " })
    }

    /// The stored form.
    var text: String { "\(code): \(message)" }
}
