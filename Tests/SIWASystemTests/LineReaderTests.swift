import SIWACrypto
import SIWATestSupport
import Testing

@testable import SIWASystem

@Suite struct LineReaderTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test func `lines have their numbers, and the last line needs no line end`() async throws {
        try folder.write("one\n\nthree\r\nfour", to: "in")
        let lines = try await read("in")
        #expect(lines.map(\.number) == [1, 2, 3, 4])
        #expect(lines.map(\.text) == ["one", "", "three\r", "four"])
    }

    @Test func `an empty file has no lines, and a final line end does not begin another line`()
        async throws
    {
        try folder.write("", to: "empty")
        #expect(try await read("empty").isEmpty)
        try folder.write("\n", to: "one")
        #expect(try await read("one").count == 1)
    }

    @Test func `a line that is too long is skipped and counted`() async throws {
        let long = String(repeating: "x", count: 200_000)
        try folder.write("a\n\(long)\nb\n\(long)", to: "in")
        let lines = try await read("in", limit: 1000)
        #expect(lines.map(\.text) == ["a", nil, "b", nil])
    }

    @Test func `a byte order mark is not part of the first line`() async throws {
        try folder.write("\u{FEFF}one\n\u{FEFF}two", to: "in")
        #expect(try await read("in").map(\.text) == ["one", "\u{FEFF}two"])
        try folder.write("\u{FEFF}", to: "mark")
        #expect(try await read("mark").map(\.text) == [""])
    }

    @Test func `all lines arrive in order if there are more than are read ahead`() async throws {
        let texts = (0..<100_000).map { "line \($0)" }
        try folder.write(texts.joined(separator: "\n"), to: "in")
        #expect(try await read("in").map(\.text) == texts)
    }

    @Test func `the number of lines is estimated from the lines that were read`() async throws {
        try folder.write((100_000..<120_000).map { "line \($0)\n" }.joined(), to: "in")
        let news = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let reader = try LineReader(folder.path("in")) { news.continuation.yield() }
        #expect(reader.expectedLines == nil)
        if case .notYet = reader.next() { for await _ in news.stream { break } }
        _ = reader.next()
        let expected = try #require(reader.expectedLines)
        #expect((19_900...20_100).contains(expected))
        #expect(try LineReader("/dev/null") {}.expectedLines == nil)
    }

    /// Lines for three reads, of which the first call may get one, and more than are read ahead.
    @Test(arguments: [4000, 200_000])
    func `a reader can be released before its lines`(_ count: Int) async throws {
        try folder.write((0..<count).map { "line \($0)\n" }.joined(), to: "in")
        weak var gone: LineReader?
        do {
            let reader = try LineReader(folder.path("in")) {}
            gone = reader
            _ = reader.next()
            if count == 200_000 { reader.stop() }
        }
        // Its thread is the last owner.
        try await eventually("the reader is gone") { gone == nil }
    }

    @Test func `a stopped reader returns whole lines, and ends`() async throws {
        try folder.write((0..<200_000).map { "line \($0)\n" }.joined(), to: "in")
        let news = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let reader = try LineReader(folder.path("in")) { news.continuation.yield() }
        _ = reader.next()
        reader.stop()
        var number = 0
        while true {
            switch reader.next() {
            case .lines(let lines):
                number = try #require(lines.last?.number)
                #expect(lines.last?.text == "line \(number - 1)")
            case .notYet: for await _ in news.stream { break }
            case .end(let failure):
                #expect(failure == nil && number < 200_000)
                return
            }
        }
    }

    @Test func `a file that cannot be opened is an error immediately`() throws {
        #expect(throws: FileError.self) { _ = try LineReader(folder.path("none")) {} }
    }

    @Test func `a file that cannot be read is an error at the end`() async throws {
        let news = AsyncStream<Void>.makeStream()
        let reader = try LineReader(folder.path("")) { news.continuation.yield() }
        var failure: FileError?
        supply: while true {
            switch reader.next() {
            case .lines: Issue.record("a folder has lines")
            case .notYet: for await _ in news.stream { break }
            case .end(let error):
                failure = error
                break supply
            }
        }
        #expect(failure?.operation == "read")
    }

    private func read(_ name: String, limit: Int = 1 << 16) async throws -> [InputLine] {
        let news = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let reader = try LineReader(folder.path(name), lineLimit: limit) {
            news.continuation.yield()
        }
        var lines: [InputLine] = []
        while true {
            switch reader.next() {
            case .lines(let more): lines += more
            case .notYet: for await _ in news.stream { break }
            case .end(let failure):
                #expect(failure == nil)
                return lines
            }
        }
    }
}

extension InputLine {
    var text: String? { bytes.map { String(decoding: $0.revealed(), as: UTF8.self) } }
}
