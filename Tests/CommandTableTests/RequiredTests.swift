import CommandTable
import Testing

@Suite struct RequiredTests {
    @Test func `keeps what is assigned`() {
        var command = Revoke()
        command.token = .file("a")
        #expect(command.token == .file("a"))
    }

    @Test func `stores through its projection`() {
        var command = Revoke()
        let path: Path<Revoke, Required<SecretArgument>> = \.$token
        command[keyPath: path].wrappedValue = .file("b")
        #expect(command.token == .file("b"))
    }

    @Test func `traps when read too early`() async {
        await #expect(processExitsWith: .failure) { _ = Revoke().token }
    }
}
