import Glibc
import SIWATestSupport
import Testing

/// A call that must fail, and how.
struct FailingCall: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let arguments: [String]
    let exitCode: CInt
    let message: String
}

@Suite struct ProgramFailureTests {
    static let calls = [
        FailingCall(
            testDescription: "no such folder", arguments: ["serve", "/nowhere"], exitCode: 3,
            message: "there is no '/nowhere/emulator.json'\nhint: make it: siwa-emulator init"),
        FailingCall(
            testDescription: "a folder that cannot be made", arguments: ["init", "/nowhere/apple"],
            exitCode: 3, message: "cannot create '/nowhere/apple': no such file"),
        FailingCall(
            testDescription: "no folder named", arguments: ["serve"], exitCode: 2,
            message: "missing DIR"),
        FailingCall(
            testDescription: "no port", arguments: ["serve", ".", "--port", "65536"], exitCode: 2,
            message: "--port needs a port, 0 to 65535, not '65536'"),
        FailingCall(
            testDescription: "any port at init", arguments: ["init", "x", "--port", "0"],
            exitCode: 2, message: "config.json must name a port"),
    ]

    @Test(arguments: calls) func `an invalid call ends with its exit code and message`(
        _ call: FailingCall
    ) async throws {
        let result = try await Executable.product("siwa-emulator").run(.init(call.arguments))
        #expect(result.ending == .exit(call.exitCode), "\(result)")
        #expect(result.errors.contains(call.message), "\(result)")
        #expect(result.output.isEmpty)
    }

    @Test(arguments: [
        (#"{"team_id":1}"#, "'team_id' must be a Team ID"), ("{", "ends in the middle (line 1)"),
        (#"{"team":1}"#, "'team' is not known; known are team_id,"),
    ])
    func `an invalid emulator.json is named in the error`(_ text: String, _ message: String)
        async throws
    {
        let folder = try TemporaryFolder()
        try folder.write("emulator.json", text)
        let result = try await Executable.product("siwa-emulator").run("serve", folder.path)
        #expect(result.ending == .exit(3), "\(result)")
        #expect(result.errors.contains("'\(folder.path)/emulator.json'"), "\(result)")
        #expect(result.errors.contains(message), "\(result)")
    }

    @Test func `a host name is refused as an address to listen on`() async throws {
        let fixture = try await EmulatorFixture()
        let result = try await fixture.emulator("serve", fixture.path, "--listen", "localhost")
        #expect(result.ending == .exit(2), "\(result)")
        #expect(result.errors.contains("'localhost' is not an IP address"), "\(result)")
    }
}
