import SIWACommandTable
import Testing

@Suite struct RequiredTests {
    @Test func `a required option keeps its assigned value`() {
        var command = Revoke()
        command.token = .file("a")
        #expect(command.token == .file("a"))
    }

    @Test func `a required option can be set through its projection`() {
        var command = Revoke()
        let path: Path<Revoke, Required<SecretArgument>> = \.$token
        command[keyPath: path].wrappedValue = .file("b")
        #expect(command.token == .file("b"))
    }

    @Test func `reading a required option before it is set traps`() async {
        await #expect(processExitsWith: .failure) { _ = Revoke().token }
    }
}
