internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// The input lines that have their result already: a bit each.
struct DoneLines: Sendable {
    /// What results of the command bear.
    let mark: ResultMark
    /// The first line that is a result of another command.
    private(set) var foreign: Int?
    private var words: [UInt64] = []
    /// How many of them were not done.
    private(set) var notDone = 0
    /// Whether any was done.
    private(set) var hasDone = false

    init(of mark: ResultMark) { self.mark = mark }

    /// Far beyond any input; a number above it does not come from a batch.
    private static let most = 1 << 32

    func contains(_ line: Int) -> Bool {
        let word = line / 64
        return word < words.count && words[word] & 1 << UInt64(line % 64) != 0
    }

    /// Notes the line that a result is of; false when the text is no result.
    mutating func insert(resultIn line: InputLine) -> Bool {
        guard let bytes = line.bytes, let json = try? JSON(bytes.revealed()),
            let number = json["line"]?.integer, (1..<Self.most).contains(number)
        else { return false }
        if let other = ResultMark(in: json), other != mark { foreign = foreign ?? line.number }
        guard insert(number) else { return true }
        let isDone = json["status"]?.string == BatchStatus.done.rawValue
        if isDone { hasDone = true } else { notDone += 1 }
        return true
    }

    /// False when it was there already.
    private mutating func insert(_ line: Int) -> Bool {
        guard !contains(line) else { return false }
        let word = line / 64
        if word >= words.count {
            words += Array(repeating: 0, count: word - words.count + 1)
        }
        words[word] |= 1 << UInt64(line % 64)
        return true
    }
}

/// The member by which a result tells which command wrote it.
enum ResultMark: String, Sendable {
    case accessToken = "access_token"
    case revoked
    case transferID = "transfer_id"
    case userID = "user_id"
    case valid

    /// The first there is: the halves of a migration have each other's behind their own. Nil in
    /// a result that is an error.
    init?(in result: JSON) {
        guard let mark = result.members?.lazy.compactMap({ Self(rawValue: $0.name) }).first else {
            return nil
        }
        self = mark
    }
}
