/// The expected result of a run; anything else must not occur.
struct Expectation {
    private var exitCode = "0"
    private var output: [String] = []
    private var errors: [String] = []
    private var sent: String?
    private var written: [String] = []
    private var trusted: [String] = []
    private var programs: [String] = []

    /// Takes a line with an expectation about the run before it; false for other lines.
    mutating func note(_ verb: String, _ text: String) -> Bool {
        switch verb {
        case "exit": exitCode = text
        case "|": output.append(text)
        case "!": errors.append(text)
        case "sent": sent = text
        case "wrote": written.append(text)
        case "ran": programs.append(text)
        case "trusted": trusted.append(text)
        default: return false
        }
        return true
    }

    func faults(of outcome: Outcome) -> [String] {
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        let printed = lines.last == "" ? lines.dropLast() : lines[...]
        var faults: [String] = []
        if String(outcome.exitCode) != exitCode { faults.append("exit \(outcome.exitCode)") }
        if !Glob.match(printed, output[...]) {
            faults.append("standard output is\n\(outcome.output)")
        }
        if !Glob.match(outcome.errors[...], errors[...]) {
            faults.append("standard error is\n\(outcome.errors.joined(separator: "\n"))")
        } else if !faults.isEmpty {
            faults.append(outcome.errors.joined(separator: "\n"))
        }
        if let sent, sent != String(outcome.sent) { faults.append("sent \(outcome.sent)") }
        if trusted != outcome.trusted { faults.append("trusted \(outcome.trusted)") }
        if programs != outcome.programs { faults.append("ran \(outcome.programs)") }
        if written != outcome.written { faults.append("wrote \(outcome.written)") }
        return faults
    }
}
