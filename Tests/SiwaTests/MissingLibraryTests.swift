import SIWACrypto
import SIWATestSupport
import Testing

/// siwa without a library that it loads when needed: an empty file is found before it.
@Suite struct MissingLibraryTests {
    @Test(arguments: [("libcrypto.so.3", "libssl3"), ("libcurl.so.4", "libcurl4")])
    func `the error names the package to install`(
        _ library: String, _ package: String
    ) async throws {
        let folder = try TemporaryFolder()
        try folder.write(library, "")
        let key = try folder.write(
            "key.p8", try P256PrivateKey.generate().pemRepresentation().revealed())
        let result = try await Executable.product("siwa").run(
            "refresh", "--token", "-", "--team-id", "TEAM123456", "--client-id", "com.example.app",
            "--key-id", "ABC123DEFG", "--key", key, "--base-url", "http://127.0.0.1:9",
            environment: ["LD_LIBRARY_PATH": folder.path], input: .bytes(Array("r.token\n".utf8)))
        #expect(result.exitCode == 3 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("siwa: unavailable: "), "\(result)")
        #expect(result.errors.contains(library) && result.hints.last?.contains(package) == true)
    }

    @Test func `commands that do not need the library work without it`() async throws {
        let folder = try TemporaryFolder()
        for library in ["libcrypto.so.3", "libcurl.so.4"] { try folder.write(library, "") }
        for arguments in [["--help"], ["--version"], ["help", "secret"], ["completions", "bash"]] {
            let result = try await Executable.product("siwa").run(
                Executable.Call(arguments, environment: ["LD_LIBRARY_PATH": folder.path]))
            #expect(result.exitCode == 0, "\(result)")
        }
    }
}
