import Foundation
import Glibc
import SIWATestSupport
import Synchronization
import Testing

/// A service manager's end of sd_notify(3).
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: CInt
    private let received = Mutex<[String]>([])

    /// Listens in a folder.
    init(in folder: TemporaryFolder) throws {
        path = folder.path("notify")
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(code == 0)
    }

    deinit { close(descriptor) }

    /// What came so far.
    var messages: [String] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let got = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
            guard got > 0 else { return received.withLock { $0 } }
            let text = String(decoding: buffer[..<got], as: UTF8.self)
            received.withLock { $0.append(text) }
        }
    }

    /// Waits until so many messages began with a text.
    func wait(for text: String, count: Int = 1) async throws {
        try await eventually("\(count) × \(text)") {
            self.messages.count { $0.hasPrefix(text) } >= count
        }
    }
}
