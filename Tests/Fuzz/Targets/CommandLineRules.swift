internal import SIWACLI
internal import SIWACommandTable

/// Every line of the input is an argument. For all of them the answer is short, on one line,
/// and without the secret after a `--token`.
func checkCommandLine(_ input: [UInt8]) async throws(Violation) {
    let arguments = input.split(separator: 0x0A, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    try check(arguments, hiding: nil)
    let secret = "rSECRET0000"
    guard !arguments.contains("--"), !arguments.contains(where: { $0.contains(secret) }) else {
        return
    }
    try check(arguments + ["--token", secret], hiding: secret)
    try check(arguments + ["--token=\(secret)"], hiding: secret)
    try await checkPlantedSecrets(in: Array(arguments.prefix(12)))
}

/// Puts a secret in every place of a command line and runs it: no error may show it.
private func checkPlantedSecrets(in arguments: [String]) async throws(Violation) {
    for place in 0...arguments.count {
        let secret = plantedSecrets[place % plantedSecrets.count]
        var lines = ["", "@", "--", "--kind="].map { prefix in
            arguments[..<place] + [prefix + secret] + arguments[place...]
        }
        if place < arguments.count {
            lines.append(arguments[..<place] + [secret] + arguments[(place + 1)...])
            lines.append(
                arguments[..<place] + [arguments[place] + "=" + secret]
                    + arguments[(place + 1)...])
        }
        for line in lines {
            let run = await CommandRun(Array(line), variables: [:], isDisconnected: true)
            let shown = run.errors.first { error in
                pieces(of: secret).contains { error.contains($0) }
            }
            try demand(shown == nil, "a secret is not shown: \(shown ?? "")")
        }
    }
}

/// A refresh token, a client_secret, a private key, its base64 and a key of a vault.
private let plantedSecrets = [
    "r5ecAe7bd0c94f1e8a2b3c4d5e6f70819.0.srvz.qW3rT5yU7iO9pA1sD3fG5h",
    """
    eyJhbGciOiJFUzI1NiIsImtpZCI6IksxTDJNM040UDUifQ.eyJpc3MiOiJBMUIyQzNENEU1Iiwic3ViIjoiY29tIn0.\
    c2lnbmVkLXdpdGgtYS1rZXktdGhhdC1ub2JvZHktaGFz
    """,
    """
    -----BEGIN PRIVATE KEY-----
    MIGTAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIBAQQgjpsQnnGQmL+YBIff
    H1136cspYG6+0iY7X1fCE9+E9LKgCgYIKoZIzj0DAQehRANCAAR/zc4ncPbEXUGD
    -----END PRIVATE KEY-----
    """,
    "H1136cspYG6+0iY7X1fCE9+E9LKgCgYIKoZIzj0DAQehRANCAAR/zc4ncPbEXUGD",
    "c0ffee00c0ffee11c0ffee22c0ffee33c0ffee44c0ffee55c0ffee66c0ffee77",
]

/// A message may cut what it shows. What all secrets of a kind begin with tells nothing.
private func pieces(of secret: String) -> [Substring] {
    let text = secret.split(separator: "-----").max { $0.count < $1.count } ?? ""
    return text.split(whereSeparator: \.isNewline).flatMap { line in
        stride(from: 8, to: max(8, line.count - 12), by: 4).map { line.dropFirst($0).prefix(12) }
    }
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
