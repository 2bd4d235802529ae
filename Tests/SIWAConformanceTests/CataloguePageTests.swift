import Foundation
import SIWAConformance
import Testing

/// The table of checks, and what is written from it.
@Suite struct CataloguePageTests {
    @Test func `docs/conformance.md has the section of each check that the table says`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/conformance.md").standardized
        let page = try String(contentsOf: file, encoding: .utf8)
        let written = try #require(CataloguePage.rewritten(page))
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1" {
            try written.write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(page == written, "docs/conformance.md: write it with RECORD_SNAPSHOTS=1")
        }
        for check in Catalogue.all {
            #expect(written.contains(#"<a id="\#(check.slug)"></a>"#))
        }
    }

    @Test func `ids and slugs name one check each`() {
        #expect(Set(Catalogue.all.map(\.id)).count == Catalogue.all.count)
        #expect(Set(Catalogue.all.map(\.slug)).count == Catalogue.all.count)
    }

    @Test func `every token belongs to a check, and every check with a result has a token`() {
        let ids = Set(Catalogue.all.map(\.id))
        #expect(BadToken.all.allSatisfy { ids.contains($0.id) })
        let tokens = Set(BadToken.all.map(\.id))
        let missing = Catalogue.all.filter {
            $0.group == "T" && $0.vector != nil && !tokens.contains($0.id)
        }
        #expect(missing.map(\.id).isEmpty)
    }
}
