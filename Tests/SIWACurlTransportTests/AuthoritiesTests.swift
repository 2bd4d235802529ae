import Foundation
import Glibc
import SIWALifecycle
import SIWATestSupport
import Testing

@testable import SIWACurlTransport

/// The authorities that a transport trusts, by its settings.
@Suite struct AuthoritiesTests {
    private func authorities(
        adding extra: String? = nil, _ variables: [String: String] = [:]
    ) throws -> Authorities {
        try Authorities(adding: extra, variables: { variables[$0] }, CurlLibrary.shared.get())
    }

    @Test func `a folder with hashed links is preferred to the bundle`() throws {
        let library = try CurlLibrary.shared.get()
        let system = try authorities()
        if system.folder != nil, system.file == nil {
            #expect(system.folder == library.authorityFolder)
        } else {
            // A machine without such a folder reads the bundle.
            #expect(system.file == library.authorityFile)
        }
    }

    @Test func `an extra file is used in addition to the folder`() throws {
        let system = try authorities()
        try #require(system.file == nil)
        let folder = try TemporaryFolder()
        let both = try authorities(adding: folder.write("extra.pem", "extra"))
        #expect(both.folder == system.folder)
        let file = try #require(both.file)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "extra\n")
    }

    @Test func `CURL_CA_BUNDLE has the highest priority`() throws {
        let named = try authorities([
            "CURL_CA_BUNDLE": "/a", "SSL_CERT_FILE": "/b", "SSL_CERT_DIR": "/c",
        ])
        #expect(named.folder == nil)
        #expect(named.file == "/a")
    }

    @Test func `SSL_CERT_FILE and SSL_CERT_DIR replace the system's authorities`() throws {
        let both = try authorities(["SSL_CERT_FILE": "/b", "SSL_CERT_DIR": "/c"])
        #expect(both.folder == "/c")
        #expect(both.file == "/b")
        #expect(try authorities(["SSL_CERT_FILE": "/b"]).folder == nil)
        #expect(try authorities(["SSL_CERT_DIR": "/c"]).file == nil)
    }

    @Test func `two files are joined with a line break between them`() throws {
        let folder = try TemporaryFolder()
        let (one, two) = try (folder.write("1", "one"), folder.write("2", "two\n"))
        let both = try authorities(adding: two, ["SSL_CERT_FILE": one])
        let file = try #require(both.file)
        // Twice, because each reader begins at the start.
        for _ in 0..<2 {
            #expect(try contents(of: file) == "one\ntwo\n\n")
        }
        withExtendedLifetime(both) {}
    }

    private func contents(of path: String) throws -> String {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 100)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    @Test func `an unreadable file is named in the error`() throws {
        let error = #expect(throws: TransportError.self) {
            try authorities(adding: "/no/such/file", ["SSL_CERT_FILE": "/dev/null"])
        }
        #expect(error?.kind == .authorities)
        #expect(error?.requestMayHaveLeft == false)
        #expect(error?.message.contains("'/no/such/file'") == true)
    }

    @Test(arguments: [
        ("5ad8a5d6.0", true), ("5AD8A5D6.1", true), ("5ad8a5d6.r0", false), ("5ad8a5d.0", false),
        ("ACCVRAIZ1.pem", false), (".", false), ("..", false), ("5ad8a5d6x0", false),
    ])
    func `hashed links are recognised by their names`(_ name: String, _ expected: Bool) {
        #expect(Authorities.isHashedLink(name) == expected)
    }
}
