import Glibc

/// What vaults of a benchmark are filled with: tokens of users in no order, and new ids for some of
/// the users. The same for every run, so that two runs can be compared.
struct VaultInput {
    /// The input of `siwa vault import`.
    let tokens: String
    /// The input of `siwa vault remap`.
    let moves: String
    /// Tokens, one a user.
    let count: Int

    /// Users who get another id.
    static let moved = 10_000

    /// Writes the files into a folder.
    init(_ count: Int, in folder: String) throws {
        self.count = count
        (tokens, moves) = ("\(folder)/dump\(count).jsonl", "\(folder)/moves\(count)")
        var random = SplitMix64(state: 1)
        let (dump, renames) = (try Lines(tokens), try Lines(moves))
        for number in 0..<count {
            let user =
                "\(random.digits(10, 6)).\(random.digits(16, 16))\(random.digits(16, 16))."
                + random.digits(10, 4)
            let token =
                "r\(random.digits(16, 16))\(random.digits(16, 16)).0.mrtwu."
                + random.digits(16, 22)
            try dump.write(
                """
                {"client_id":"com.example.app","user_id":"\(user)","refresh_token":"\(token)",\
                "state":"active","stored_at":"2026-01-21T08:30:00Z"}

                """)
            guard number < Self.moved else { continue }
            let renamed = "\(random.digits(10, 6)).\(random.digits(16, 30)).0001"
            try renames.write(#"{"old_user_id":"\#(user)","user_id":"\#(renamed)"}"# + "\n")
        }
        try dump.close()
        try renames.close()
    }
}

/// Random numbers that are the same in every run.
private struct SplitMix64 {
    var state: UInt64

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// So many digits.
    mutating func digits(_ radix: Int, _ count: Int) -> String {
        let text = String(next(), radix: radix) + String(next(), radix: radix)
        return String((String(repeating: "0", count: count) + text).suffix(count))
    }
}

/// A file that is written line by line.
final class Lines {
    private let descriptor: CInt
    private var part: [UInt8] = []

    init(_ path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkError("'\(path)' cannot be written") }
    }

    func write(_ line: String) throws {
        part += line.utf8
        if part.count > 1 << 18 { try flush() }
    }

    func close() throws {
        try flush()
        Glibc.close(descriptor)
    }

    private func flush() throws {
        guard Glibc.write(descriptor, part, part.count) == part.count else {
            throw BenchmarkError("a file cannot be written")
        }
        part.removeAll(keepingCapacity: true)
    }
}
