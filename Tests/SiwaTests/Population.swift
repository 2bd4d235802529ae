import Foundation
import SIWAJOSE
import SIWATestSupport
import Testing

/// Many users of an app that is transferred, with their expected results: three of a hundred fail.
struct Population: Sendable {
    enum Fate { case migrates, leavesBefore, leavesAfter, isUnknown }

    let count: Int
    /// The result of all users; nil for a mixture.
    private let common: Fate?

    /// The whole number in the environment, for the long run by hand, or `usual`.
    init(usual: Int) {
        count = wished("SIWA_MIGRATION_USERS", usual: usual)
        common = nil
    }

    /// The number of users with each result.
    init(usual count: Int, all fate: Fate) { (self.count, common) = (count, fate) }

    func fate(_ number: Int) -> Fate {
        if let common { return common }
        return switch number % 100 {
        case 33: .leavesBefore
        case 66: .isUnknown
        case 99: .leavesAfter
        default: .migrates
        }
    }

    func name(_ number: Int) -> String { "user\(number)" }

    func userID(_ number: Int) -> String {
        let digits = String(number)
        let padded = String(repeating: "0", count: max(6 - digits.count, 0)) + digits
        return "\(padded).0123456789abcdef0123456789abcdef.1234"
    }

    func hasRelay(_ number: Int) -> Bool { number % 2 == 0 }

    func relay(_ number: Int) -> String { "relay\(number)@privaterelay.appleid.com" }

    func numbers(_ fates: Fate...) -> [Int] { (1...count).filter { fates.contains(fate($0)) } }

    /// Those the emulator knows, as `emulator.json` has them.
    var members: [JSON.Member] {
        numbers(.migrates, .leavesBefore, .leavesAfter).map { number in
            let email: [JSON.Member] =
                hasRelay(number)
                ? [.init("email", .string(relay(number))), .init("is_private_email", true)] : []
            return JSON.Member(
                name(number), .object([.init("sub", .string(userID(number)))] + email))
        }
    }
}

/// A named pipe, as an input that the test continues.
final class NamedPipe: Sendable {
    let path: String
    private let handle: FileHandle

    init(_ path: String) throws {
        try #require(mkfifo(path, 0o600) == 0)
        self.path = path
        handle = try #require(FileHandle(forUpdatingAtPath: path))
    }

    func write(_ text: String) throws { try handle.write(contentsOf: Data(text.utf8)) }

    func close() throws { try handle.close() }
}

/// The lines of a batch's output by their numbers; each line is there once.
func results(_ folder: TemporaryFolder, _ name: String) throws -> [Int: JSON] {
    var results: [Int: JSON] = [:]
    for line in try folder.contents(name).split(separator: 0x0A) {
        let result = try JSON(Array(line))
        let number = try #require(result["line"]?.integer)
        #expect(results.updateValue(result, forKey: number) == nil, "line \(number) occurs twice")
    }
    return results
}
