import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import SIWASystem
import SIWATestSupport
import SIWAVaultRecords
import Testing

/// Runs one scenario in a harness of its own.
struct ScenarioRunner {
    private let harness: CommandHarness
    private let scenario: Scenario
    private var names: [String: String]
    private var call: Scenario.Line?
    private var expected = Expectation()
    private var outcome: Outcome?

    init(_ scenario: Scenario) async throws {
        harness = try await CommandHarness()
        self.scenario = scenario
        names = try await Fixtures.shared.value.shapes
    }

    mutating func play() async throws {
        for line in scenario.lines {
            if !expected.note(line.verb, expand(line.rest)) {
                judge()
                try await carryOut(line)
            }
        }
        judge()
    }

    /// Compares the result of the last run with the expectations.
    private mutating func judge() {
        guard let call, let outcome else { return }
        for fault in expected.faults(of: outcome) {
            Issue.record("\(scenario.file):\(call.number) $ \(call.rest)\n\(fault)")
        }
        self.call = nil
        expected = Expectation()
    }

    private mutating func carryOut(_ line: Scenario.Line) async throws {
        let words = ShellWords(line.rest).words.map(expand)
        switch line.verb {
        case "$":
            call = line
            outcome = await harness.run(Array(words.dropFirst()))
        case "save": try save(words)
        case "code":
            let extra = try JSON(text: words.count > 2 ? words[2] : "{}")
            let signIn = try await harness.signIn(words[1], extra)
            names[words[0]] = signIn.code
            names[words[0] + "_ID_TOKEN"] = signIn.identityToken
        case "sign": names[words[0]] = try await sign(words)
        case "apple": _ = try await harness.emulator.control(words[0], try JSON(text: words[1]))
        case "line": harness.wire.fail(try lineFault(words))
        case "vault": try vault(words)
        case "holds": compareFile(line, words)
        case "input": compareInput(words, line.number)
        case "record": try compareRecord(words, line.number)
        default: try prepare(line, words)
        }
    }

    /// The lines that prepare the harness.
    private func prepare(_ line: Scenario.Line, _ words: [String]) throws {
        let body = line.body.map { expand($0) + "\n" }.joined()
        try harness.memory.with { state in
            switch line.verb {
            case "env":
                for word in words {
                    let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
                    state.variables[pair[0]] = pair.count > 1 ? pair[1] : ""
                }
            case "answer":
                state.answers = (state.answers ?? []) + [words.joined(separator: " ")]
            case "program" where words[0] == "says":
                state.programLines.append(words.dropFirst().joined(separator: " "))
            case "program":
                state.ending =
                    words[0] == "overdue" ? .overdue : .exit(try #require(CInt(words[1])))
            case "unset": for word in words { state.variables[word] = nil }
            case "file":
                let bits = words.count > 1 ? UInt32(words[1], radix: 8) : nil
                state.files[words[0]] = .init(
                    contents: Array(body.utf8), permissions: bits ?? 0o600,
                    isForeign: words.last == "foreign")
            case "root": state.isRoot = true
            case "nothing": (state.files, state.variables) = ([:], ["HOME": "/home/me"])
            case "stdin":
                state.input = Array(
                    (body.isEmpty ? words.joined(separator: " ") + "\n" : body).utf8)
            case "stdout":
                state.blockage = Memory.Blockage(rawValue: words[0])
                #expect(state.blockage != nil, "\(scenario.file):\(line.number)")
            case "signal": state.signalWhilePrinting = CInt(words[0])
            case "later": state.now = state.now + .seconds(try #require(Int(words[0])))
            default: Issue.record("\(scenario.file):\(line.number) no such line: \(line.verb)")
            }
        }
    }

    /// `save NAME` keeps standard output without its line end, `save NAME MEMBER` one member.
    private mutating func save(_ words: [String]) throws {
        let output = try #require(outcome?.output)
        names[words[0]] =
            words.count > 1
            ? try #require(try JSON(text: output)[words[1]]?.string) : String(output.dropLast())
    }

    /// `sign NAME CLAIMS [HEADER]`: a token as Apple makes it, but for these members.
    private func sign(_ words: [String]) async throws -> String {
        let changes = try words.dropFirst().map { try JSON(text: $0) }
        return try await Fixtures.shared.value.tokens.sign(
            claims: changes[0], header: changes.count > 1 ? changes[1] : [:])
    }

    /// `vault`: there is one, empty, and its settings are in the environment. `vault fails KIND
    /// [CALLS]`, `vault works`.
    private func vault(_ words: [String]) throws {
        switch words.first {
        case nil:
            let keys = try VaultKeyRing.newLine(number: 1)
            try Vault.create(harness.vault, VaultKeyRing(keys))
            harness.memory.with { state in
                state.variables["SIWA_VAULT_URL"] = "sqlite:/siwa/vault.db"
                state.files["/siwa/vault.key"] = .init(contents: keys.revealed())
            }
        case "fails":
            let kind = try #require(StoreError.Kind(rawValue: words[1]))
            harness.vault.fail(
                with: StoreError(kind, "as the scenario has it"),
                after: words.count > 2 ? try #require(Int(words[2])) : 0)
        default: harness.vault.fail(with: nil)
        }
    }

    /// `holds PATH [MODE]`: the lines of a file, as patterns; without any, that there is no file.
    private func compareFile(_ line: Scenario.Line, _ words: [String]) {
        let file = harness.memory.with { $0.files[words[0]] }
        let place = "\(scenario.file):\(line.number)"
        guard !line.body.isEmpty else { return #expect(file == nil, "\(place)") }
        let text = String(decoding: file?.contents ?? [], as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(
            Glob.match(lines.dropLast(), line.body.map(expand)[...]), "\(place): \(text)")
        if words.count > 1 {
            #expect(file?.permissions == UInt32(words[1], radix: 8), "\(place)")
        }
    }

    /// `input TEXT [NAME=VALUE …]`: standard input of the last program, and its variables; a name
    /// without a value is withheld.
    private func compareInput(_ words: [String], _ line: Int) {
        let program = harness.memory.with { $0.programs.last }
        let place = "\(scenario.file):\(line)"
        let input = String(decoding: program?.input.revealed() ?? [], as: UTF8.self)
        #expect(input == words[0] + "\n", "\(place)")
        for word in words.dropFirst() {
            let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count > 1 {
                #expect(program?.variables[pair[0]] == pair[1], "\(place)")
            } else {
                #expect(program?.withheld.contains(word) == true, "\(place)")
            }
        }
    }

    /// `record CLIENT USER STATE…`, a state a token, or `none`.
    private func compareRecord(_ words: [String], _ line: Int) throws {
        let user = VaultUser(ClientID(unchecked: words[0]), UserID(unchecked: words[1]))
        let states = try harness.vault.records(of: [user]).records.map(\.state.rawValue)
        let state = states.isEmpty ? "none" : states.joined(separator: " ")
        #expect(state == words.dropFirst(2).joined(separator: " "), "\(scenario.file):\(line)")
    }

    /// `line KIND left` or `line KIND unsent`: how the next request fails.
    private func lineFault(_ words: [String]) throws -> TransportError {
        TransportError(
            try #require(TransportError.Kind(rawValue: words[0])), "as the scenario has it",
            requestMayHaveLeft: words[1] == "left")
    }

    /// Puts in the value of `$NAME`, the longest name first.
    private func expand(_ text: String) -> String {
        guard text.contains("$") else { return text }
        return names.sorted { $0.key.count > $1.key.count }.reduce(text) { text, name in
            text.split(separator: "$\(name.key)", omittingEmptySubsequences: false)
                .joined(separator: name.value)
        }
    }
}
