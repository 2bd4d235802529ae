import Foundation
import SIWAConformance
import SIWAJOSE
import Testing

/// docs/conformance/recipes: the descriptions of backends that people have.
@Suite struct RecipeTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/conformance/recipes").standardized

    private static let names: [String] = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path())
        return (files ?? []).filter { $0.hasSuffix(".json") }.sorted()
    }()

    private static func file(_ name: String) throws -> JSON {
        try JSON(Array(Data(contentsOf: folder.appending(path: name))))
    }

    @Test(arguments: names) func `conform reads every recipe, and each says what a sign-in is`(
        _ name: String
    ) throws {
        let file = try ConformFile(json: Self.file(name))
        #expect(file.signIn != nil || file.web != nil)
        #expect(file.whoami != nil, "an account is needed to find out what the backend believes")
        #expect(file.isOnLoopback)
        #expect(DryRun(file).text.contains(file.app))
    }

    @Test
    func `conform reads the descriptions that its page begins with, for an app and a website`()
        throws
    {
        let page = Self.folder.appending(path: "../../conformance.md").standardized
        let blocks = try String(contentsOf: page, encoding: .utf8)
            .components(separatedBy: "```json\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        let files = try blocks.map { try ConformFile(json: JSON(text: $0)) }
        #expect(files.map { $0.web != nil } == [false, true])
        #expect(files.map { $0.signIn != nil } == [true, false])
        #expect(files.allSatisfy { $0.whoami != nil })
    }

    @Test func `the page has a section for each, which says whether it was run`() throws {
        let page = try String(contentsOf: Self.folder.appending(path: "README.md"), encoding: .utf8)
        let sections = page.components(separatedBy: "\n## ").dropFirst()
        #expect(Self.names.count == 9)
        for name in Self.names {
            let section = sections.first { $0.contains("[\(name)](\(name))") }
            #expect(section != nil, "\(name) has no section")
            let isSaid = ["**Run here**", "**Not run here**"].contains {
                section?.contains($0) == true
            }
            #expect(isSaid, "\(name): say whether it was run here")
        }
        #expect(sections.count == Self.names.count)
    }

    @Test func `an unknown member of a recipe is refused by its name`() throws {
        let recipe = try Self.file("json-api.json")
        let members = (recipe.members ?? []) + [JSON.Member("sign_on", [:])]
        let error = #expect(throws: ShapeError.self) {
            try ConformFile(json: .object(members))
        }
        #expect("\(error as Any)".contains("sign_on"))
    }
}
