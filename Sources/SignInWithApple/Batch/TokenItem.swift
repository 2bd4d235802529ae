public import SIWACrypto

/// One line of a batch: a token, and what its answer is to be known by.
public struct TokenItem: Sendable {
    /// Its line in the input, from 1.
    public let line: Int
    /// What the input calls it: a string or a number; nil when it was a bare token.
    public let id: JSON?
    /// The token.
    public let token: SecretText
    /// The client it belongs to; nil for the one of the settings.
    public let clientID: ClientID?
    /// The status of the answer to its revocation, once there is one.
    var revokedStatus: Int?

    /// Reads a line: a bare token, or a JSON object `{"id", "token", "client_id"?}`, whose
    /// other members are passed over.
    ///
    /// - Parameters:
    ///   - tokenNames: what the token's member may be called, `token` first.
    ///   - refusal: why a token cannot be one, as the end of a sentence; nil when it can.
    /// - Throws: ``InvalidLine``.
    public init(
        _ text: SecretBytes, line: Int, tokenNames: [String] = ["token"],
        refusal: (SecretText) -> String?
    ) throws(InvalidLine) {
        let content = text.trimmingSpace()
        guard String(validating: content.revealed(), as: UTF8.self) != nil else {
            throw InvalidLine(nil, "the line is not UTF-8")
        }
        self.line = line
        if SecretText(content).hasPrefix("{") {
            let json = try JSON(lineOf: content)
            id = try Self.id(json)
            token = try Self.token(json, tokenNames, id)
            clientID = try Self.clientID(json, id)
        } else {
            (id, clientID) = (nil, nil)
            token = SecretText(content)
        }
        guard token.bytes.count > 0 else { throw InvalidLine(id, "the line has no token") }
        if let reason = refusal(token) { throw InvalidLine(id, "the token \(reason)") }
    }

    private static func id(_ json: JSON) throws(InvalidLine) -> JSON? {
        switch json["id"] {
        case nil, .null: nil
        case .string, .integer: json["id"]
        case let other?: throw InvalidLine(nil, "'id' is \(other.kind), not a string or a number")
        }
    }

    private static func token(
        _ json: JSON, _ names: [String], _ id: JSON?
    ) throws(InvalidLine) -> SecretText {
        guard let value = names.lazy.compactMap({ json[$0] }).first else {
            throw InvalidLine(id, "the line has no member '\(names.first ?? "token")'")
        }
        guard let text = value.string else {
            throw InvalidLine(id, "the token is \(value.kind), not a string")
        }
        return SecretText(text)
    }

    private static func clientID(_ json: JSON, _ id: JSON?) throws(InvalidLine) -> ClientID? {
        switch json["client_id"] {
        case nil, .null: return nil
        case .string(let text):
            do {
                return try ClientID(validating: text)
            } catch {
                throw InvalidLine(id, "'client_id' \(error.fault)")
            }
        case let other?: throw InvalidLine(id, "'client_id' is \(other.kind), not a string")
        }
    }
}

/// Why a line is no item.
public struct InvalidLine: Error, Hashable, Sendable {
    /// What the input calls it, when that much could be read.
    public let id: JSON?
    /// What is wrong, without quoting the line: it may hold a token.
    public let reason: String

    /// Composes one.
    public init(_ id: JSON?, _ reason: String) {
        (self.id, self.reason) = (id, reason)
    }
}

extension JSON {
    /// Reads a line of a batch; what is wrong with it is said without quoting it.
    init(lineOf content: SecretBytes) throws(InvalidLine) {
        do {
            self = try JSON(content.revealed())
        } catch {
            throw InvalidLine(nil, "the line \(error.reason.withoutQuoting)")
        }
    }
}

extension SecretBytes {
    /// Without blanks and carriage returns around it; itself when there are none.
    func trimmingSpace() -> SecretBytes {
        withSpan { bytes in
            let front = bytes.indices.first { !isSpace(bytes[$0]) } ?? bytes.count
            let back =
                bytes.indices.reversed().first { !isSpace(bytes[$0]) }.map { $0 + 1 } ?? front
            guard back - front < count else { return self }
            var trimmed = SecretBuffer(capacity: back - front)
            for index in front..<back { trimmed.append(bytes[index]) }
            return trimmed.finished()
        }
    }
}
