import SIWATestSupport
import Testing

/// What the programs link; `make build` asks the same of the objects of a release.
@Suite struct LinkingTests {
    @Test(arguments: ["siwa", "siwa-server", "siwa-emulator"])
    func `a program uses nothing of the engine of regular expressions`(
        _ program: String
    ) async throws {
        let symbols = try #require(Executable.installed("nm"))
        let result = try await symbols.run("-D", "-u", Executable.product(program).path)
        try #require(result.exitCode == 0 && !result.output.isEmpty, "\(result)")
        let found = result.output.split(separator: "\n").filter {
            $0.contains("_StringProcessing")
        }
        #expect(found.isEmpty, "\(found)")
    }
}
