import Foundation
package import SIWAJOSE

// The static standard library of a release build, which compiles this module too, comes without
// Testing.
#if canImport(Testing)
    package import Testing

    /// Compares what a program does with a file of docs/contract, which has a line for everything that
    /// users rely on (docs/compatibility.md).
    ///
    /// `RECORD_SNAPSHOTS=1` writes the file anew. A line that disappears breaks users' scripts.
    package func checkContract(
        _ lines: Set<String>, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/contract/\(name)").standardized
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1" {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try (lines.sorted().joined(separator: "\n") + "\n")
                .write(to: file, atomically: true, encoding: .utf8)
        }
        let recorded = Set(
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init))
        for line in recorded.subtracting(lines).sorted() {
            Issue.record(
                "\(name): removed, which only a major version may do: \(line)",
                sourceLocation: sourceLocation)
        }
        for line in lines.subtracting(recorded).sorted() {
            Issue.record(
                "\(name): new; record it with RECORD_SNAPSHOTS=1: \(line)",
                sourceLocation: sourceLocation)
        }
    }
#endif

extension Set<String> {
    /// Adds the members of a document: `verify.checks[].name`.
    ///
    /// - Parameter maps: the ends of the paths of objects whose member names are data.
    package mutating func insertMembers(
        of json: JSON, at path: String, maps: [String] = []
    ) {
        for member in json.members ?? [] {
            let own = "\(path).\(member.name)"
            insert(own)
            guard !maps.contains(where: { own.hasSuffix($0) && member.value.members != nil })
            else { continue }
            insertMembers(of: member.value, at: own, maps: maps)
        }
        for element in json.elements ?? [] {
            insertMembers(of: element, at: path + "[]", maps: maps)
        }
    }

    /// Adds the names and labels of a page of metrics: `siwa_task_items{task,status}`.
    package mutating func insertMetrics(of page: some StringProtocol) {
        for line in page.split(separator: "\n") where !line.hasPrefix("#") {
            let name = line.prefix { $0 != "{" && $0 != " " }
            let labels = line.drop { $0 != "{" }.split(separator: ",").map { label in
                label.drop { $0 == "{" }.prefix { $0 != "=" }
            }
            insert("\(name){\(labels.joined(separator: ","))}")
        }
    }
}
