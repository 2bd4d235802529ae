import Glibc
import SIWATestSupport
import Testing

@testable import SIWASystem

@Suite(.blocking) struct LineWriterTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test func `all lines are written in order, to a file that only its owner can read`() throws {
        let writer = try LineWriter.appending(to: folder.path("out"), keeping: nil) {}
        for number in 0..<10_000 { writer.append(Array("\(number)\n".utf8)[...]) }
        try writer.close()
        #expect(try folder.read("out") == (0..<10_000).map { "\($0)\n" }.joined())
        #expect(try readFile(folder.path("out")).status.permissions == 0o600)
    }

    @Test func `the last line is synced without waiting for the end`() async throws {
        let synced = AsyncStream<Void>.makeStream()
        let descriptor = open(folder.path("out"), O_WRONLY | O_CREAT, 0o600)
        let writer = LineWriter(descriptor, named: "out") { descriptor in
            synced.continuation.yield()
            return fdatasync(descriptor)
        } notify: {
        }
        let giveUp = Task {
            try await Task.sleep(for: .seconds(20))
            synced.continuation.finish()
        }
        writer.append(Array("one\n".utf8)[...])
        var syncs = synced.stream.makeAsyncIterator()
        #expect(await syncs.next() != nil)
        giveUp.cancel()
        try writer.close()
        #expect(try folder.read("out") == "one\n")
    }

    /// Waits until the file has that size.
    private func wait(for size: Int, in name: String) async throws {
        try await eventually("\(size) bytes are written") {
            try folder.read(name).utf8.count == size
        }
    }

    @Test(arguments: [0, 3, 11])
    func `lines that another process truncates are detected at the end`(_ size: Int) async throws {
        let writer = try LineWriter.appending(to: folder.path("out"), keeping: nil) {}
        for number in 1...3 { writer.append(Array("line \(number)\n".utf8)[...]) }
        try await wait(for: 21, in: "out")
        try #require(truncate(folder.path("out"), off_t(size)) == 0)
        writer.append(Array("line 4\n".utf8)[...])
        let error = #expect(throws: FileError.self) { try writer.close() }
        #expect(error?.reason == "another process truncated it" && error?.isLostOutput == true)
        #expect(writer.undelivered == 3 - size / 7)
    }

    @Test func `earlier lines that another process truncates are detected as well`() throws {
        try folder.write("line 1\nline 2\ntor", to: "out")
        let writer = try LineWriter.appending(
            to: folder.path("out"), keeping: { $0.bytes != nil }, beginning: "tor", notify: {})
        try #require(truncate(folder.path("out"), 7) == 0)
        #expect(throws: FileError.self) { try writer.close() }
        #expect(writer.undelivered == 1)
    }

    @Test func `a file that another process removes is detected at the end`() async throws {
        let writer = try LineWriter.appending(to: folder.path("out"), keeping: nil) {}
        writer.append(Array("one\n".utf8)[...])
        try await wait(for: 4, in: "out")
        try #require(unlink(folder.path("out")) == 0)
        let error = #expect(throws: FileError.self) { try writer.close() }
        #expect(error?.reason == "another process removed it")
        #expect(writer.undelivered == 1)
    }

    @Test func `lines that other processes append are not reported as missing`() async throws {
        let writer = try LineWriter.appending(to: folder.path("out"), keeping: nil) {}
        writer.append(Array("one\n".utf8)[...])
        try await wait(for: 4, in: "out")
        let other = open(folder.path("out"), O_WRONLY | O_APPEND)
        #expect(write(other, "two\n", 4) == 4)
        close(other)
        writer.append(Array("three\n".utf8)[...])
        try writer.close()
        #expect(try folder.read("out") == "one\ntwo\nthree\n")
    }

    @Test func `an existing file becomes inaccessible to other users`() throws {
        try folder.write("", to: "out", permissions: 0o666)
        _ = try LineWriter.appending(to: folder.path("out"), keeping: nil, notify: {})
        #expect(try readFile(folder.path("out")).status.permissions == 0o600)
        #expect(throws: FileError.self) {
            try LineWriter.appending(to: folder.path(""), keeping: nil, notify: {})
        }
    }

    @Test func `a dangling link is kept, and its target is created for its owner only`() throws {
        try folder.link("link", to: "out")
        _ = try LineWriter.appending(to: folder.path("link"), keeping: nil, notify: {})
        #expect(try folder.isLink("link") && !folder.isLink("out"))
        #expect(try readFile(folder.path("out")).status.permissions == 0o600)
    }

    @Test func `devices and open streams are written without being replaced`() throws {
        _ = try LineWriter.appending(to: "/dev/null", keeping: nil, notify: {})
        _ = try LineWriter.appending(to: "/dev/stdout", keeping: nil, notify: {})
    }

    @Test func `the writer waits for a full non-blocking pipe`() throws {
        var ends: [CInt] = [0, 0]
        try #require(openPipe(&ends) == 0)
        defer { close(ends[0]) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let writer = LineWriter(ends[1], named: "pipe") {}
        let line = Array("a line of sixteen\n".utf8)
        for _ in 0..<20_000 { writer.append(line[...]) }
        var room = [UInt8](repeating: 0, count: 1 << 16)
        var count = 0
        while count < 20_000 * line.count, writer.failure == nil {
            count += read(ends[0], &room, room.count)
        }
        try writer.close()
        #expect(count == 20_000 * line.count)
    }

    @Test func `lines that the reader of a pipe left unread are not counted as delivered`() throws {
        var ends: [CInt] = [0, 0]
        try #require(openPipe(&ends) == 0)
        let writer = LineWriter(ends[1], named: "pipe") {}
        for number in 1...5 { writer.append(Array("line \(number)\n".utf8)[...]) }
        // The lines are in the pipe, and two and a half of them are read.
        var room = [UInt8](repeating: 0, count: 18)
        #expect(read(ends[0], &room, 7) == 7)
        var got = 7
        while got < 18 { got += read(ends[0], &room, 18 - got) }
        close(ends[0])
        let error = #expect(throws: FileError.self) { try writer.close() }
        #expect(error?.isClosedPipe == true)
        #expect(writer.undelivered == 3)
    }

    @Test func `lines that a reader read before it left are counted as delivered`() throws {
        var ends: [CInt] = [0, 0]
        try #require(openPipe(&ends) == 0)
        let writer = LineWriter(ends[1], named: "pipe") {}
        writer.append(Array("line\n".utf8)[...])
        var room = [UInt8](repeating: 0, count: 5)
        #expect(read(ends[0], &room, 5) == 5)
        close(ends[0])
        try writer.close()
        #expect(writer.undelivered == 0)
    }

    @Test(arguments: [8, 9])
    func `lines that the reader of a socket left unread are detected at the end`(
        _ count: Int
    ) throws {
        var ends: [CInt] = [0, 0]
        // Programs that other tests start must not inherit an end.
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let writer = LineWriter(ends[1], named: "socket") {}
        writer.append(Array("one\ntwo.\n".utf8)[...])
        var room = [UInt8](repeating: 0, count: count)
        var got = 0
        while got < count { got += read(ends[0], &room, count - got) }
        close(ends[0])
        // A program that another test is starting has a copy until it executes.
        var end = pollfd(fd: ends[1], events: 0, revents: 0)
        #expect(poll(&end, 1, 10_000) == 1)
        if count == 9 {
            try writer.close()
        } else {
            let error = #expect(throws: FileError.self) { try writer.close() }
            #expect(error?.isClosedPipe == true)
        }
        #expect(writer.undelivered == 9 - count)
    }

    @Test func `lines after a failure are not counted as delivered`() throws {
        var ends: [CInt] = [0, 0]
        try #require(openPipe(&ends) == 0)
        // As siwa does.
        signal(SIGPIPE, SIG_IGN)
        close(ends[0])
        let writer = LineWriter(ends[1], named: "pipe") {}
        writer.append(Array("one\ntwo\n".utf8)[...])
        while writer.failure == nil { usleep(1000) }
        writer.append(Array("three\n".utf8)[...])
        #expect(throws: FileError.self) { try writer.close() }
        #expect(writer.undelivered == 3)
    }

    @Test func `a new run does not change a file that is not empty`() throws {
        try folder.write("old\n", to: "out")
        let error = #expect(throws: FileError.self) {
            _ = try LineWriter.appending(to: folder.path("out"), keeping: nil) {}
        }
        #expect(error?.isNotEmpty == true)
        #expect(try folder.read("out") == "old\n")
    }

    @Test func `a later run reads earlier results and removes an incomplete line`() throws {
        try folder.write("one\ntwo\nthr", to: "out")
        var seen: [String?] = []
        let writer = try LineWriter.appending(to: folder.path("out")) {
            seen.append($0.text)
            return true
        } notify: {
        }
        writer.append(Array("three\n".utf8)[...])
        try writer.close()
        #expect(seen == ["one", "two"])
        #expect(try folder.read("out") == "one\ntwo\nthree\n")
    }

    @Test func `an invalid last line is removed, and an invalid earlier line is refused`() throws {
        try folder.write("one\n\u{0}\u{0}\n", to: "torn")
        _ = try LineWriter.appending(to: folder.path("torn")) {
            $0.text == "one"
        } notify: {
        }
        #expect(try folder.read("torn") == "one\n")
        try folder.write("what\none\n", to: "other")
        #expect(throws: FileError.self) {
            _ = try LineWriter.appending(to: folder.path("other")) {
                $0.text == "one"
            } notify: {
            }
        }
        #expect(try folder.read("other") == "what\none\n")
    }

    @Test(arguments: [#"{"lin"#, "{\"line\":2\n", "\u{0}\u{0}", ""])
    func `an incomplete line after a crash is removed`(_ rest: String) throws {
        let whole = #"{"line":1}"# + "\n"
        try folder.write(whole + rest, to: "out")
        _ = try LineWriter.appending(
            to: folder.path("out"), keeping: { $0.number == 1 }, beginning: #"{"line":"#
        ) {}
        #expect(try folder.read("out") == whole)
    }

    @Test(arguments: ["a token\n", "a token", #"{"team_id": "A1B2C3D4E5"}"#, "{\"line\":1}\ntext"])
    func `a file that no crash can have produced is not truncated`(_ text: String) throws {
        try folder.write(text, to: "wrong")
        let error = #expect(throws: FileError.self) {
            _ = try LineWriter.appending(
                to: folder.path("wrong"), keeping: { $0.text == #"{"line":1}"# },
                beginning: #"{"line":"#
            ) {}
        }
        #expect(error?.holdsSomethingElse == true)
        #expect(try folder.read("wrong") == text)
    }

    @Test func `two runs cannot write to one file`() throws {
        let first = try LineWriter.appending(to: folder.path("out"), keeping: nil) {}
        let error = #expect(throws: FileError.self) {
            _ = try LineWriter.appending(to: folder.path("out"), keeping: nil) {}
        }
        #expect(error?.remedy?.hasPrefix("wait until that run has ended") == true)
        try first.close()
    }

    @Test func `a full disk is reported immediately and at the end`() async throws {
        let news = AsyncStream<Void>.makeStream()
        let writer = try LineWriter.appending(to: "/dev/full", keeping: nil) {
            news.continuation.yield()
        }
        writer.append(Array("lost\n".utf8)[...])
        for await _ in news.stream { break }
        #expect(writer.failure?.isTemporary == true)
        #expect(throws: FileError.self) { try writer.close() }
    }

    @Test func `writing no lines succeeds`() throws {
        let writer = try LineWriter.appending(to: folder.path("out"), keeping: nil) {}
        try writer.close()
        #expect(try folder.read("out").isEmpty)
    }
}

/// Opens a pipe that the programs of other tests do not inherit: they would keep its ends open.
private func openPipe(_ ends: inout [CInt]) -> CInt {
    let result = pipe(&ends)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return result
}
