import Foundation
import Glibc
import SIWACrypto
import SIWALifecycle
import SIWATestSupport
import Testing

/// A service that signs behind a Unix socket, as a test wants it to.
final class SignerSocket: Sendable {
    let path: String
    private let descriptor: CInt

    /// - Parameter answer: what is written for a message; nil closes the connection.
    init(
        in folder: TemporaryFolder, _ answer: @escaping @Sendable ([UInt8]) throws -> String?
    ) throws {
        path = folder.path("sign.sock")
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(code == 0 && listen(descriptor, 16) == 0)
        try startThread {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                Self.serve(connection, answer)
                close(connection)
            }
        }
    }

    deinit {
        shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
    }

    private static func serve(
        _ connection: CInt, _ answer: @Sendable ([UInt8]) throws -> String?
    ) {
        var question: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: question, as: UTF8.self).contains("\n\n") {
            let got = recv(connection, &chunk, chunk.count, 0)
            guard got > 0 else { return }
            question += chunk[..<got]
        }
        let line = String(decoding: question, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("message=") }
        guard let message = line.flatMap({ Data(base64Encoded: String($0.dropFirst(8))) }),
            let text = try? answer(Array(message))
        else { return }
        _ = send(connection, text, text.utf8.count, CInt(MSG_NOSIGNAL))
    }
}

extension SignerSetup {
    /// The key of the team.
    func key() throws -> P256PrivateKey {
        try PrivateKeyText(SecretBytes(try folder.contents("key.p8"))).privateKey()
    }

    /// A service that signs.
    func signingSocket() throws -> SignerSocket {
        let (key, folder) = (try key(), folder)
        return try SignerSocket(in: folder) { message in
            try Self.count(in: folder)
            let signature = try key.signature(for: message.span).rawRepresentation
            return "signature=\(Data(signature).base64EncodedString())\n\n"
        }
    }

    static func count(in folder: TemporaryFolder) throws {
        let calls = (try? folder.contents("calls")) ?? []
        try folder.write("calls", calls + Array("signed\n".utf8))
    }
}
