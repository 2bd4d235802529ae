import Foundation
package import SIWACrypto

/// An SSH agent (draft-ietf-sshm-ssh-agent) that has one key.
package final class FakeSSHAgent: Sendable {
    /// The fingerprint of its key, as `ssh-add -l` prints it.
    package let fingerprint: String
    private let service: UnixService
    private let count: Locked<Int>

    /// What it does when it is asked.
    package enum Mood: Sendable {
        case signs, isSilent, isLocked, closes, hasOtherKeys, refuses
        /// Answers in another protocol.
        case isNoAgent
        /// Answers that two gigabytes follow.
        case announcesTooMuch
    }

    package init(at path: String, _ key: P256PrivateKey, _ mood: Mood = .signs) throws {
        let blob =
            Self.string(Self.algorithm) + Self.string(Array("nistp256".utf8))
            + Self.string(key.publicKey.x963Representation)
        let digest = Data(try SHA256.digest(blob.span)).base64EncodedString()
        fingerprint = "SHA256:" + digest.prefix { $0 != "=" }
        let count = Locked(0)
        self.count = count
        service = try UnixService(at: path) { connection in
            while true {
                let question = try connection.read {
                    $0.count > 4 && $0.count >= 4 + Self.number($0)
                }
                guard question.count > 4,
                    let answer = try Self.answer(question, key, blob, mood)
                else { return }
                if question[4] == Self.signing { count.withLock { $0 += 1 } }
                try connection.write(answer)
                // Nothing more is said; the other side closes.
                if answer.isEmpty { _ = try connection.read { _ in false } }
            }
        }
    }

    /// The path of its socket.
    package var path: String { service.path }

    /// How often it was asked for a signature.
    package var calls: Int { count.withLock { $0 } }

    /// Nil closes the connection, nothing is no answer.
    private static func answer(
        _ question: [UInt8], _ key: P256PrivateKey, _ blob: [UInt8], _ mood: Mood
    ) throws -> [UInt8]? {
        switch mood {
        case .isSilent: return []
        case .closes: return nil
        case .isNoAgent: return Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
        case .announcesTooMuch: return [0x7F, 0xFF, 0xFF, 0xFF, listing + 1]
        case .isLocked: return string([listing + 1, 0, 0, 0, 0])
        case .signs, .hasOtherKeys, .refuses: break
        }
        guard question[4] == signing else {
            let listed = mood == .hasOtherKeys ? blob.map { $0 ^ 1 } : blob
            return string([listing + 1, 0, 0, 0, 1] + string(listed) + string([]))
        }
        guard mood == .signs else { return string([5]) }
        let rest = Array(question[(5 + 4 + blob.count)...])
        let raw = try key.signature(for: rest[4..<(4 + number(rest))].span).rawRepresentation
        let numbers = string([0] + raw.prefix(32)) + string([0] + raw.suffix(32))
        return string([signing + 1] + string(string(algorithm) + string(numbers)))
    }

    private static let algorithm = Array("ecdsa-sha2-nistp256".utf8)
    private static let listing: UInt8 = 11
    private static let signing: UInt8 = 13

    private static func number(_ bytes: [UInt8]) -> Int {
        bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }
}
