import Glibc
import SIWATestSupport
import Testing

/// Standard output to which the result cannot be written.
@Suite struct OutputTests {
    private let siwa: Siwa

    init() throws { siwa = try Siwa() }

    @Test func `the reader of a read-only command can close its output`() async throws {
        for var call in [Executable.Call(["--help"]), Executable.Call(["manual"])] {
            call.output = .closedPipe
            let result = try await siwa.run(call)
            #expect(result.ending == .exit(0), "\(result)")
            #expect(result.errorBytes.isEmpty, "\(result)")
        }
    }

    @Test(arguments: [ChildOutput.closedPipe, .closedSocket])
    func `an output that is closed after a change is reported`(_ output: ChildOutput) async throws {
        try await RawServer.serving(.answering(200, tokens)) { server in
            var call = siwa.refresh(server.url)
            call.output = output
            let result = try await siwa.run(call)
            #expect(result.ending == .exit(74), "\(result)")
            #expect(
                result.errors.hasPrefix(
                    "siwa: not_delivered: Apple accepted the refresh token, but standard output is closed"
                ),
                "\(result)")
        }
    }

    @Test(arguments: [ChildOutput.closedPipe, .closedSocket])
    func `a reader that left is detected before a code is sent`(
        _ output: ChildOutput
    ) async throws {
        try await RawServer.serving(.answering(200, tokens)) { server in
            var call = siwa.exchange(server.url)
            call.output = output
            let result = try await siwa.run(call)
            #expect(result.ending == .exit(74), "\(result)")
            #expect(result.errors.contains("nothing was sent"), "\(result)")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a full disk is reported with a clear error`() async throws {
        try await RawServer.serving(.answering(200, tokens)) { server in
            for var call in [
                siwa.refresh(server.url), siwa.exchange(server.url), .init(["--help"]),
            ] {
                call.output = .file("/dev/full")
                let result = try await siwa.run(call)
                #expect(result.ending == .exit(74), "\(result)")
                #expect(result.errors.contains("no space left on device"), "\(result)")
                #expect(result.errors.contains("standard output"), "\(result)")
            }
            // It refuses even an empty write, so that the code was not spent.
            #expect(server.requests.allSatisfy { $0.parameter("code") == nil })
        }
    }

    /// Runs both commands that spend a code, and expects that it is not sent.
    private func expectNothingSent(
        _ reason: String, change: (inout Executable.Call) -> Void
    ) async throws {
        try await RawServer.serving(.answering(200, tokens)) { server in
            for command in ["exchange", "revoke"] {
                var call = siwa.exchange(server.url)
                call.arguments[0] = command
                change(&call)
                let executable =
                    call.arguments.first == "-c" ? Executable(path: "/bin/sh") : siwa.executable
                let result = try await executable.run(call)
                #expect(result.ending == .exit(74), "\(result)")
                #expect(result.errors.contains("nothing was sent"), "\(result)")
                #expect(result.errors.contains(reason), "\(result)")
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test(.enabled(if: SmallDisk.isPossible, "needs root, to mount a small disk"))
    func `a file on a full disk is detected before a code is sent`() async throws {
        let folder = try TemporaryFolder()
        let disk = try await SmallDisk(folder.path("disk"))
        let file = try disk.fill(leavingFile: "result")
        for isAppending in [false, true] {
            try await expectNothingSent("no space left on device") { call in
                call.output = .file(file)
                if isAppending { call.output = .appendedFile(file) }
            }
        }
        // What fits is printed.
        try disk.empty()
        try await RawServer.serving(.answering(200, tokens)) { server in
            var call = siwa.exchange(server.url)
            call.output = .file(file)
            let result = try await siwa.executable.run(call)
            #expect(result.ending == .exit(0), "\(result)")
            let text = String(decoding: try folder.contents("disk/result"), as: UTF8.self)
            #expect(
                text.hasPrefix("{\n") && text.hasSuffix("}\n"), "its size is that of the result")
        }
        try await disk.unmount()
    }

    @Test func `a file size limit is detected before a code is sent`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("result", "")
        try await expectNothingSent("file too large") { call in
            call.arguments =
                ["-c", "ulimit -f 1; exec \"$0\" \"$@\"", siwa.executable.path] + call.arguments
            call.output = .file(file)
        }
        #expect(try folder.contents("result").isEmpty)
    }
}

/// A mounted disk of 64 KiB.
private struct SmallDisk {
    private let path: String

    static var isPossible: Bool { geteuid() == 0 && Executable.installed("mount") != nil }

    init(_ path: String) async throws {
        self.path = path
        try #require(mkdir(path, 0o700) == 0)
        let mount = try #require(Executable.installed("mount"))
        let result = try await mount.run("-t", "tmpfs", "-o", "size=64k", "tmpfs", path)
        try #require(result.exitCode == 0, "\(result)")
    }

    /// Leaves room for nothing but the name of a file; returns its path.
    func fill(leavingFile name: String) throws -> String {
        let file = "\(path)/\(name)"
        close(creat(file, 0o600))
        let ballast = open("\(path)/ballast", O_WRONLY | O_CREAT, 0o600)
        try #require(ballast >= 0)
        defer { close(ballast) }
        let bytes = [UInt8](repeating: 0x2E, count: 4096)
        while write(ballast, bytes, bytes.count) > 0 {}
        return file
    }

    func empty() throws { try #require(unlink("\(path)/ballast") == 0) }

    func unmount() async throws {
        _ = try await Executable.installed("umount")?.run("-l", path)
    }
}
