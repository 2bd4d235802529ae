import Foundation
import SIWACrypto
import SIWATestSupport
import Testing

@testable import SIWASystem

@Suite struct SpoolFileTests {
    private func line(_ number: Int) -> InputLine {
        let text = "r-secret-\(number)-" + String(repeating: "x", count: number % 90)
        return InputLine(number: number, bytes: number % 7 == 0 ? nil : SecretBytes(text.utf8))
    }

    private func isSame(_ one: InputLine, _ other: InputLine) -> Bool {
        one.number == other.number && one.bytes?.revealed() == other.bytes?.revealed()
    }

    @Test(arguments: [0, 1, 20_000])
    func `lines are returned unchanged and in order`(_ count: Int) throws {
        let folder = try TemporaryFolder()
        let spool = SpoolFile(in: folder.path)
        for number in 0..<count { try spool.append(line(number)) }
        #expect(namesInFolder(folder.path).isEmpty)
        var next = 0
        while case let lines = try spool.take(), !lines.isEmpty {
            for taken in lines {
                #expect(isSame(taken, line(next)))
                next += 1
            }
        }
        #expect(next == count)
    }

    @Test func `a line can be empty or longer than a group`() throws {
        let folder = try TemporaryFolder()
        let spool = SpoolFile(in: folder.path)
        let lines = [
            InputLine(number: 1, bytes: SecretBytes([UInt8](repeating: 7, count: 300_000))),
            InputLine(number: 2, bytes: SecretBytes([])), InputLine(number: 3, bytes: nil),
        ]
        for line in lines { try spool.append(line) }
        var taken: [InputLine] = []
        while case let next = try spool.take(), !next.isEmpty { taken += next }
        #expect(taken.count == 3 && zip(taken, lines).allSatisfy(isSame))
    }

    @Test func `the file on disk contains no readable text`() throws {
        let folder = try TemporaryFolder()
        let spool = SpoolFile(in: folder.path)
        for number in 1...20_000 { try spool.append(line(number)) }
        // The file has no name, but this process still has it open.
        let open = namesInFolder("/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?
                .hasPrefix(folder.path) == true
        }
        #expect(open.count == 1)
        for name in open {
            let contents = try readFile("/proc/self/fd/\(name)", limit: 1 << 24).contents.revealed()
            #expect(contents.count > 500_000)
            #expect(!String(decoding: contents, as: UTF8.self).contains("r-secret"))
        }
    }

    @Test func `spooling to a missing folder fails`() {
        let spool = SpoolFile(in: "/no/such/folder")
        let error = #expect(throws: FileError.self) {
            for number in 1...20_000 { try spool.append(line(number)) }
        }
        #expect(error?.isMissing == true)
    }
}
