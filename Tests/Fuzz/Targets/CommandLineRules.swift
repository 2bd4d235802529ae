internal import CommandTable
internal import SIWACLI

/// Every line of the input is an argument. Whatever they are, the answer is short, on one line,
/// and without the secret behind a `--token`.
func checkCommandLine(_ input: [UInt8]) throws(Violation) {
    let arguments = input.split(separator: 0x0A, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    try check(arguments, hiding: nil)
    let secret = "rSECRET0000"
    guard !arguments.contains("--"), !arguments.contains(where: { $0.contains(secret) }) else {
        return
    }
    try check(arguments + ["--token", secret], hiding: secret)
    try check(arguments + ["--token=\(secret)"], hiding: secret)
}

private func check(_ arguments: [String], hiding secret: String?) throws(Violation) {
    do {
        switch try siwaTool.parse(arguments) {
        case .help(let text), .version(let text):
            try demand(text.hasSuffix("\n"), "help ends in a line feed")
        case .run: return
        }
    } catch let error as UsageError {
        let lines = [error.message] + error.hints
        try demand(error.hints.last == "see '\(error.subject) --help'", "an error points to help")
        for line in lines {
            try demand(!line.isEmpty && line.utf8.count < 1000, "an error is short: \(line)")
            try demand(
                !line.unicodeScalars.contains(where: drivesTerminals), "an error is one line")
            let isHidden = secret.map { !line.contains($0) } ?? true
            try demand(isHidden, "a secret is not shown: \(line)")
        }
    } catch let violation as Violation {
        throw violation
    } catch {
        throw Violation("every failure is a UsageError, not \(type(of: error))")
    }
}

private func drivesTerminals(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
}
