import Foundation
import Testing

/// A scenario from a file in `Scenarios/`: lines that prepare the harness, lines that run a
/// command, and lines with the expected result. `Scenarios/README.md` explains the language.
struct Scenario: Sendable, CustomTestStringConvertible {
    let file: String
    let title: String
    fileprivate(set) var lines: [Line] = []

    struct Line: Sendable {
        let number: Int
        /// The first word, or the mark, of the line.
        let verb: String
        let rest: String
        /// The lines below it that are indented, without their indentation.
        fileprivate(set) var body: [String] = []
    }

    var testDescription: String { "\(file): \(title)" }

    static let all: [Scenario] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Scenarios")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted().flatMap { name in
            let text = try? String(contentsOf: folder.appending(path: name), encoding: .utf8)
            return read(text ?? "", file: name)
        }
    }()

    private static func read(_ text: String, file: String) -> [Scenario] {
        var scenarios: [Scenario] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init).enumerated()
        {
            if line.hasPrefix("== ") {
                scenarios.append(Scenario(file: file, title: String(line.dropFirst(3))))
            } else if line.isEmpty || line.hasPrefix("#") || scenarios.isEmpty {
                continue
            } else if line.hasPrefix("    "), let last = scenarios.last?.lines.indices.last {
                scenarios[scenarios.count - 1].lines[last].body.append(String(line.dropFirst(4)))
            } else {
                let words = line.split(separator: " ", maxSplits: 1).map(String.init)
                scenarios[scenarios.count - 1].lines.append(
                    Line(number: index + 1, verb: words[0], rest: words.count > 1 ? words[1] : ""))
            }
        }
        return scenarios
    }
}
