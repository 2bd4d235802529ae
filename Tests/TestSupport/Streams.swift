import Glibc

/// What a child gets as its standard input.
package enum ChildInput: Sendable {
    /// These bytes, then the end.
    case bytes([UInt8])
    /// A pipe that stays open, into which a test writes while the child runs.
    case pipe

    /// A text, then the end.
    package static func text(_ text: String) -> Self { .bytes(Array(text.utf8)) }
}

/// Where a child's standard output goes.
package enum ChildOutput: Sendable {
    /// To the test.
    case captured
    /// To a pipe without a reader: writing fails with EPIPE.
    case closedPipe
    /// To a socket whose other end is closed.
    case closedSocket
    /// To a pipe that is full and not read: writing hangs.
    case hangingPipe
    /// To a device or file, such as `/dev/full`.
    case file(String)
    /// To the end of a file.
    case appendedFile(String)
}

/// The three streams of a child, and the test's end of them.
struct Streams: Sendable {
    let input: Descriptor
    let output: Descriptor
    let errors: Descriptor
    let inputEnd: Descriptor?
    let isOutputCaptured: Bool
    /// Keeps a pipe open without reading it.
    let unreadEnd: Descriptor?

    init(_ call: Executable.Call) throws {
        switch call.input {
        case .bytes(let bytes):
            input = try .anonymousFile()
            try input.write(bytes)
            try input.rewind()
            inputEnd = nil
        case .pipe: (input, inputEnd) = try Descriptor.pipe()
        }
        var unreadEnd: Descriptor?
        switch call.output {
        case .captured: output = try .anonymousFile()
        case .closedPipe: output = try Descriptor.pipe().write
        case .hangingPipe: (unreadEnd, output) = try Descriptor.fullPipe()
        case .closedSocket: output = try Descriptor.desertedSocket()
        case .file(let path): output = try Descriptor(path: path, O_WRONLY)
        case .appendedFile(let path): output = try Descriptor(path: path, O_WRONLY | O_APPEND)
        }
        if case .captured = call.output {
            isOutputCaptured = true
        } else {
            isOutputCaptured = false
        }
        errors = try .anonymousFile()
        self.unreadEnd = unreadEnd
    }
}
