import SIWAJOSE
import SIWALifecycle
import SIWATestSupport

/// A reader of the console's events over a socket, as slow as a test wants it to be.
final class EventStream {
    private let client: RawClient
    private(set) var text = ""
    private(set) var hasEnded = false

    /// Opens a stream; nothing is read yet.
    init(port: UInt16, window: CInt? = nil) throws {
        client = try RawClient(port: port, window: window)
        client.send(
            "GET /emulator/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
    }

    /// Reads what has come.
    func read() {
        while !hasEnded {
            guard let bytes = client.receive() else { return hasEnded = true }
            guard !bytes.isEmpty else { return }
            text += String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Reads until `isEnough`, or the server ends the stream.
    func read(_ what: String, until isEnough: (String) -> Bool) async throws {
        try await eventually(what) {
            self.read()
            return self.hasEnded || isEnough(self.text)
        }
    }

    /// The status of the answer, once it is there.
    func status() async throws -> String {
        try await read("a status line") { $0.contains("\r\n") }
        return String(text.prefix { $0 != "\r\n" })
    }

    /// Forgets what was read.
    func clear() { text = "" }
}
