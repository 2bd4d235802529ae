import Foundation
import Testing

/// Compares a text with its recorded file.
///
/// `RECORD_SNAPSHOTS=1 swift test` writes the files; read the difference before committing it.
struct Snapshot {
    let name: String

    func check(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let file = Self.folder.appending(path: name)
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1" {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let recorded = try String(contentsOf: file, encoding: .utf8)
        #expect(text == recorded, "\(name) has changed", sourceLocation: sourceLocation)
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Snapshots")
}
