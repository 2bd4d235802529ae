import Foundation
import SIWACLI
import SIWACommandTable
import Testing

@testable import SIWAApplication
@testable import SIWAServer

/// Errors and settings are explained in one table each, from which help, manual pages and documents
/// are written.
@Suite struct CatalogueTests {
    @Test func `every code of an error has one entry in the catalogue`() {
        let listed = ErrorCode.groups.flatMap(\.entries).map(\.code)
        #expect(listed.count == Set(listed).count)
        #expect(Set(listed) == Set(ErrorCode.allCases))
        #expect(ErrorCode.allCases.allSatisfy { $0.entry?.code == $0 })
    }

    @Test(arguments: ["errors", "reference"])
    func `docs/errors.md and docs/reference.md are what the tables say`(_ name: String) throws {
        let text = name == "errors" ? ReferenceDocument.errors : ReferenceDocument.reference
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/\(name).md").standardized
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1" {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(
            try String(contentsOf: file, encoding: .utf8) == text,
            "docs/\(name).md: write it with RECORD_SNAPSHOTS=1")
    }

    @Test func `help explains every code of an error, and every member of the configuration`()
        throws
    {
        for code in ErrorCode.allCases {
            let page = try siwaTool.help(for: "errors \(code.rawValue)")
            #expect(page.hasPrefix("\(code.rawValue)\n\n  "))
        }
        let settings = try siwaTool.help(for: "settings")
        for entry in SettingEntry.groups.flatMap(\.1) {
            #expect(settings.contains("\n  \(entry.member)"))
        }
    }

    @Test func `a term that help does not know is a usage error with a suggestion`() throws {
        let error = #expect(throws: UsageError.self) {
            try siwaTool.help(for: "errors invalid_grand")
        }
        #expect(error?.diagnosis.hints.first == "did you mean 'invalid_grant'?")
    }

    @Test func `the catalogue has every member that siwa-server reads`() {
        let members = Set(
            SettingEntry.server.compactMap { entry in
                entry.member.split(separator: ".").dropFirst().first.map(String.init)
            })
        #expect(
            members.subtracting(["LISTENER", "deliver"])
                == Set(ServerSettings.names).subtracting(["deliver"]))
        let delivery = SettingEntry.server.filter { $0.member.hasPrefix("server.deliver.") }
            .map { String($0.member.dropFirst("server.deliver.".count)) }
        #expect(Set(delivery) == Set(DeliverySettings.names))
    }

    @Test func `a profile with every member of the catalogue is read`() throws {
        let values: [String: String] = [
            "audiences": "[\"com.example.app\"]", "max_attempts": "4",
        ]
        let members = SettingEntry.profile.map { entry in
            "\"\(entry.member)\": \(values[entry.member] ?? "\"x\"")"
        }
        let vault = SettingEntry.vault.map { "\"\($0.member.dropFirst("vault.".count))\": \"x\"" }
        let text = """
            {"default_profile": "app", "strict": true, "server": {},
            "vault": {\(vault.joined(separator: ", "))},
            "profiles": {"app": {\(members.joined(separator: ", "))}}}
            """
        let file = try SettingsFile(path: "/siwa/config.json", text: Array(text.utf8))
        #expect(file.profileNames == ["app"])
        #expect(
            SettingEntry.file.map(\.member).sorted()
                == ["default_profile", "profiles", "server", "strict", "vault"])
    }

    @Test
    func `the manual has a page of errors in section 7, and of the configuration in section 5`()
        throws
    {
        let pages = siwaTool.manualPages()
        #expect(pages.map(\.fileName).suffix(2) == ["siwa-errors.7", "siwa-config.json.5"])
        #expect(pages.map(\.fileName).allSatisfy { !$0.contains("/") })
        #expect(try siwaTool.manualPage(for: "errors").text.contains(".TP\n\\fBinvalid_grant\\fR"))
        #expect(try siwaTool.manualPage(for: "settings").text.contains("SIWA\\-CONFIG.JSON 5"))
    }
}
