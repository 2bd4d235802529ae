import Foundation
import SignInWithApple
import Testing

/// What is documented is what there is.
@Suite struct DocumentationTests {
    @Test func `every cause of invalid_client has its line, in the engine's order`() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/invalid-client.md")
        let text = try String(contentsOf: path, encoding: .utf8)
        let rows = text.components(separatedBy: "## The causes").last?.split(separator: "\n") ?? []
        let codes = rows.compactMap { row -> String? in
            guard row.hasPrefix("| `") else { return nil }
            return row.dropFirst(3).split(separator: "`").first.map(String.init)
        }
        #expect(codes == FindingCode.allCases.map(\.rawValue))
        #expect(rows.filter { $0.hasPrefix("| `") }.allSatisfy { $0.count { $0 == "|" } == 5 })
    }
}
