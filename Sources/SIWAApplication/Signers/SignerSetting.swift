package import SIWACrypto
package import SIWAJOSE

/// Where a signer is that the settings name.
package enum SignerPlace: Hashable, Sendable {
    /// A program, its arguments, and the variables that it gets: `NAME` or `NAME=VALUE`.
    case exec(String, arguments: [String], variables: [String])
    /// A Unix socket.
    case socket(String)
    /// An SSH agent's key, by its fingerprint; without a socket, the agent of `$SSH_AUTH_SOCK`.
    case sshAgent(String, socket: String?)

    package var description: String {
        switch self {
        case .exec(let path, _, _): "the program \(path)"
        case .socket(let path): "the socket \(path)"
        case .sshAgent(let fingerprint, let socket):
            "the key \(fingerprint) of the SSH agent" + (socket.map { " \($0)" } ?? "")
        }
    }
}

/// A signer in place of a key file, and the public key that its signatures must have.
package struct SignerSetting: Hashable, Sendable {
    package let place: SignerPlace
    package let publicKey: PinnedKey
    /// As it was written; nil for ten seconds.
    package let timeout: String?

    package init(_ place: SignerPlace, publicKey: PinnedKey, timeout: String?) {
        (self.place, self.publicKey, self.timeout) = (place, publicKey, timeout)
    }

    /// The public key of a signer's key, which is never asked of the signer.
    package enum PinnedKey: Hashable, Sendable {
        /// A file: PEM, DER or a JWK.
        case file(String)
        /// The text of a JWK.
        case jwk(String)
    }
}

extension SignerSetting {
    /// The members of the object `private_key` and their shapes.
    static let members: [(name: String, type: any JSONConvertible.Type)] = [
        ("exec", StringList.self), ("env", StringList.self), ("socket", String.self),
        ("ssh_agent", String.self), ("agent_socket", String.self), ("public_key", PathOrJWK.self),
        ("timeout", String.self),
    ]

    /// Why an object whose members have the right shapes names no signer; nil if it does.
    static func fault(of json: JSON) -> String? {
        let places = ["exec", "socket", "ssh_agent"].filter { json[$0] != nil }
        guard places.count == 1, let place = places.first else {
            return places.isEmpty
                ? "needs one of 'exec', 'socket' and 'ssh_agent'"
                : "has both '\(places[0])' and '\(places[1])'"
        }
        if json["exec"]?.elements?.isEmpty == true { return "has an empty 'exec'" }
        if json["env"] != nil, place != "exec" { return "has 'env', which only 'exec' uses" }
        if json["agent_socket"] != nil, place != "ssh_agent" {
            return "has 'agent_socket', which only 'ssh_agent' uses"
        }
        return json["public_key"] == nil ? "needs 'public_key'" : nil
    }

    /// Reads an object that has no fault.
    ///
    /// - Parameter resolve: makes a path of the configuration absolute.
    init?(_ json: JSON, resolve: (String) -> String) {
        let texts = { (name: String) in (json[name]?.elements ?? []).compactMap(\.string) }
        let place: SignerPlace
        if let path = texts("exec").first {
            place = .exec(
                path, arguments: Array(texts("exec").dropFirst()), variables: texts("env"))
        } else if let path = json["socket"]?.string {
            place = .socket(resolve(path))
        } else if let fingerprint = json["ssh_agent"]?.string {
            place = .sshAgent(fingerprint, socket: json["agent_socket"]?.string.map(resolve))
        } else {
            return nil
        }
        guard let key = json["public_key"] else { return nil }
        self.init(
            place, publicKey: key.string.map { .file(resolve($0)) } ?? .jwk(key.text),
            timeout: json["timeout"]?.string)
    }
}

extension SignerSetting {
    /// The setting as the object `private_key`, with the key itself in place of its file.
    package func json(pinning key: P256PublicKey) -> JSON {
        let texts = { (texts: [String]) in JSON.array(texts.map { .string($0) }) }
        var members: [JSON.Member] =
            switch place {
            case .exec(let path, let arguments, let variables):
                [.init("exec", texts([path] + arguments))]
                    + (variables.isEmpty ? [] : [.init("env", texts(variables))])
            case .socket(let path): [.init("socket", .string(path))]
            case .sshAgent(let fingerprint, let socket):
                [.init("ssh_agent", .string(fingerprint))]
                    + (socket.map { [.init("agent_socket", .string($0))] } ?? [])
            }
        members.append(.init("public_key", key.jwk(as: nil)))
        if let timeout { members.append(.init("timeout", .string(timeout))) }
        return .object(members)
    }
}

/// The value of `private_key`: a path, or an object that names a signer.
struct PathOrSigner: JSONConvertible {
    static var shape: String { "a path, or an object that names a signer" }
    let json: JSON

    init?(json: JSON) {
        guard json.string != nil || json.members != nil else { return nil }
        self.json = json
    }
}

private struct PathOrJWK: JSONConvertible {
    static var shape: String { "a path or a JWK" }
    let json: JSON

    init?(json: JSON) {
        guard json.string != nil || json.members != nil else { return nil }
        self.json = json
    }
}
