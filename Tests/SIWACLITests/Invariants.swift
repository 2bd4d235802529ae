import SIWAJOSE
import SIWATestSupport
import Testing

/// The invariants of every run
struct Invariants {
    private let outcome: Outcome
    private let secrets: Set<String>

    init(_ outcome: Outcome, secrets: Set<String>) {
        self.outcome = outcome
        self.secrets = secrets
    }

    func check() {
        secrecy()
        output()
        if has("--dry-run") { #expect(outcome.sent == 0, "a dry run sent something: \(call)") }
        if has("--dry-run") || !["exchange", "verify", "notification", "keys"].contains(where: has)
        {
            #expect(!outcome.usesCache, "it must not use the key set: \(call)")
        }
        if outcome.exitCode == 0 {
            #expect(!outcome.errors.contains { $0.hasPrefix("hint: ") }, "\(outcome)")
        } else {
            let code = outcome.exitCode
            #expect(
                [1, 2, 3, 4, 5, 6, 7, 8, 9, 74, 75, 131, 140].contains(code),
                "exit \(code): \(call)")
            asksForJSON ? errorObject() : errorLines()
        }
    }

    private var call: String { "siwa " + outcome.arguments.joined(separator: " ") }
    private var asksForJSON: Bool { has("--json") }
    private func has(_ flag: String) -> Bool { outcome.arguments.contains(flag) }

    private func secrecy() {
        let isOpen =
            has("--dry-run") || outcome.arguments.first == "config"
            || outcome.arguments.first == "vault" && !has("--reveal")
        let visible = outcome.errors.joined(separator: "\n") + (isOpen ? outcome.output : "")
        for secret in secrets where visible.contains(secret) {
            Issue.record("'\(secret.prefix(8))…' is a secret, and it shows: \(call)\n\(visible)")
        }
        #expect(typeNames(in: visible) == [], "\(call)\n\(visible)")
        for line in outcome.errors {
            let isTame = line.unicodeScalars.allSatisfy {
                !($0.value < 0x20 || (0x7F..<0xA0).contains($0.value))
            }
            #expect(isTame, "a control character on standard error: \(call)")
        }
    }

    /// Exits 0 and 1 have results; so has a revocation that lost its code on the way, a batch
    /// that was stopped, and an export that left something out.
    private func output() {
        #expect(outcome.output.isEmpty || outcome.output.hasSuffix("\n"), "\(call)")
        guard !["batch", "migrate"].contains(outcome.arguments.first) else { return }
        guard !outcome.arguments.starts(with: ["vault", "export"]) else { return }
        // Apple's result is reported although the vault could not record it.
        guard !has("--store"), !has("--user") else { return }
        // A signal arrived after the result.
        guard outcome.exitCode < 128 else { return }
        guard outcome.exitCode > 1, outcome.arguments.first != "revoke" || !has("--code") else {
            return
        }
        #expect(outcome.output.isEmpty, "a failed command printed a result: \(call)")
    }

    /// `siwa: <code>: <what happened>`, then hints, at least one of them.
    private func errorLines() {
        // The questions to the user, and the errors about the answers.
        let questions = outcome.errors.prefix { !$0.hasPrefix("siwa: ") }
        let asked = outcome.arguments.first == "init" ? questions.count : 0
        let lines = outcome.errors.dropFirst(asked).drop { line in
            ["siwa: warning: ", "siwa: note: ", "> ", "< ", "- "].contains { line.hasPrefix($0) }
        }
        let code = lines.first?.dropFirst(6).prefix { $0 != ":" } ?? ""
        #expect(lines.first?.hasPrefix("siwa: \(code): ") == true && !code.isEmpty, "\(outcome)")
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("hint: ") }, "\(outcome)")
        #expect(lines.count > 1, "an error does not say what to do: \(outcome)")
    }

    /// `{"error": …}` with exactly the documented members, in their order.
    private func errorObject() {
        let objects = outcome.errors.compactMap { try? JSON(text: $0) }
        guard let error = objects.last?["error"], let names = error.members?.map(\.name) else {
            Issue.record("no JSON error: \(outcome)")
            return
        }
        let fixed = ["code", "message", "hints", "exit_code"]
        let optional = ["http_status", "apple", "apple_request_id"].filter(names.contains)
        #expect(names == fixed + optional, "\(outcome)")
        #expect(error["exit_code"]?.integer == Int(outcome.exitCode), "\(outcome)")
        #expect(error["hints"]?.elements?.isEmpty == false, "no hint: \(outcome)")
    }
}
