import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// Runs of commands that spend a code, each of another user, so that the tokens of each code can be
/// found afterwards.
struct SpentCodes {
    /// One run.
    struct Run {
        let number: Int
        let code: String
        let result: ProgramResult
    }

    /// A code that Apple exchanged, and where its tokens are.
    struct Spent {
        let run: Run
        /// On standard output.
        let isPrinted: Bool
        /// In the vault.
        let isStored: Bool
        /// Apple revoked them, and the result says so.
        let isRevoked: Bool

        var isLost: Bool { !isPrinted && !isStored && !isRevoked }
    }

    private(set) var runs: [Run] = []

    mutating func append(_ run: Run) { runs.append(run) }

    /// How many runs printed what a code had brought when a signal ended them.
    var interrupted: Int {
        runs.count { $0.result.exitCode ?? 0 > 128 && !$0.result.outputBytes.isEmpty }
    }

    /// The codes that Apple exchanged.
    func spent(_ fixture: VaultFixture) async throws -> [Spent] {
        let requests = try await fixture.apple.requests(to: "/auth/token")
        let fingerprints = Set(
            requests.filter { $0["grant_type"] == "authorization_code" && $0["status"] == 200 }
                .compactMap { $0["fingerprints"]?["code"]?.string })
        let stored = try fixture.opened()
        return runs.filter { fingerprints.contains(SecretText($0.code).fingerprint) }.map {
            // One member alone is a bare text.
            let json = try? $0.result.json
            let isStored = stored[fixture.user($0.number)] != nil
            if let said = json?["stored"] {
                // A COMMIT that was not answered may have been carried out; siwa then says so.
                let isUnknown = $0.result.errors.contains("unknown whether the database committed")
                #expect(said == .boolean(isStored) || isUnknown && isStored, "\($0.result)")
            }
            return Spent(
                run: $0, isPrinted: json?["refresh_token"]?.string != nil,
                isStored: isStored,
                isRevoked: json?["revoked"] == true || $0.result.output.hasPrefix("true\n"))
        }
    }
}

extension [SpentCodes.Spent] {
    /// The counts, for the line that a test prints.
    var summary: String {
        "\(count) codes spent; \(count(where: \.isPrinted)) printed, "
            + "\(count(where: \.isStored)) stored, \(count(where: \.isRevoked)) revoked"
    }
}
