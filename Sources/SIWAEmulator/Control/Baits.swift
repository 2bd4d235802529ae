internal import SIWAJOSE
internal import SIWALifecycle

/// Documents that only a verifier fetches which believes the `jku` or `x5u` of a token.
struct Baits {
    /// The most baits; the oldest are then removed.
    static let limit = 1000
    private static let root = "/bait/"

    private var pages: [String: Page] = [:]
    /// The paths, oldest first.
    private var order: [String] = []

    /// The document at `path`; nil if none was laid there.
    func page(at path: String) -> Page? {
        path.hasPrefix(Self.root) ? pages[path] : nil
    }

    fileprivate mutating func lay(_ page: Page, at path: String) {
        if order.count >= Self.limit { pages[order.removeFirst()] = nil }
        pages[path] = page
        order.append(path)
    }

    fileprivate static func path(_ name: String, _ file: String) -> String {
        "\(root)\(name)/\(file)"
    }
}

// POST /emulator/baits.
extension Service {
    /// Serves a key set, a certificate chain or both at new paths, which no other request names.
    ///
    /// - Throws: ``ShapeError`` if the body has neither.
    mutating func layBait(_ body: JSON) throws(ShapeError) -> JSON {
        let reader = try JSONObjectReader(body, knowing: ["keys", "certificates"])
        let certificates: String? = try reader.optional("certificates")
        guard body["keys"] != nil || certificates != nil else {
            throw ShapeError("", "'keys' (a JWK Set) or 'certificates' (PEM) is missing")
        }
        guard body["keys"]?.members != nil || body["keys"] == nil else {
            throw ShapeError("", "'keys' must be an object: a JWK Set")
        }
        let name = random.baits.text(16)
        var answer: [JSON.Member] = []
        if let keys = body["keys"] {
            let path = Baits.path(name, "keys.json")
            baits.lay(.json(keys), at: path)
            answer.append(JSON.Member("jku", .string(path)))
        }
        if let certificates {
            let path = Baits.path(name, "certificates.pem")
            let type = HTTPField("Content-Type", "application/x-pem-file")
            baits.lay(Page(status: 200, fields: [type], body: Array(certificates.utf8)), at: path)
            answer.append(JSON.Member("x5u", .string(path)))
        }
        return .object(answer)
    }
}
