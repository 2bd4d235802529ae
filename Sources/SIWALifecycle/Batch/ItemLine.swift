package import SIWACrypto
package import SIWAJOSE

/// A parsed line of a batch: a bare text, or a JSON object. Members that siwa does not know are
/// ignored.
package struct ItemLine {
    /// The id of the item in the input: a string or a number; nil for a bare text.
    package let id: JSON?
    private let content: Content
    /// Whether a bare text has spaces or tabs around it.
    private let isPadded: Bool

    private enum Content {
        case bare(SecretBytes)
        case object(JSONText)
    }

    /// - Throws: ``InvalidLine``, when the line is neither.
    package init(_ line: SecretBytes) throws(InvalidLine) {
        let text = line.trimmingSpace()
        isPadded = line.count > text.count + (line.endsWithCarriageReturn ? 1 : 0)
        guard text.withSpan({ $0.count > 0 && $0[0] == UInt8(ascii: "{") }) else {
            guard text.withSpan({ (try? UTF8Span(validating: $0)) != nil }) else {
                throw InvalidLine(
                    nil,
                    "the line is not UTF-8; 'iconv --from-code ISO-8859-1 --to-code UTF-8' converts "
                        + "a file of older software")
            }
            guard !text.withSpan(Self.isOtherJSON) else {
                throw InvalidLine(nil, "the line is JSON, but not an object")
            }
            (id, content) = (nil, .bare(text))
            return
        }
        let object: JSONText
        do {
            object = try JSONText(text.revealed())
        } catch {
            throw InvalidLine(nil, "the line \(error.reason.withoutQuoting)")
        }
        (id, content) = (try Self.id(object), .object(object))
    }

    /// Whether the text is an array, a string, or a word such as `null` that a program writes for a
    /// missing value: no bare token looks like these.
    private static func isOtherJSON(_ text: Span<UInt8>) -> Bool {
        switch text.count {
        case 0: false
        case 4...5: ["null", "true", "false"].contains { $0.utf8.span.isExactly(text) }
        default: text[0] == UInt8(ascii: "[") || text[0] == UInt8(ascii: "\"")
        }
    }

    private static func id(_ object: JSONText) throws(InvalidLine) -> JSON? {
        let id = object["id"]
        return switch id {
        case nil, .null: nil
        case .string, .integer: id
        case .number: throw InvalidLine(nil, "'id' is a number, but not a whole one")
        case let other?: throw InvalidLine(nil, "'id' is \(other.kind), not a string or a number")
        }
    }

    /// The bare text, or the first existing member of these names.
    ///
    /// - Parameter isJWT: accepts an identity token, which is verified later; otherwise the text
    ///   must be an opaque token.
    package func token(
        called names: [String], isJWT: Bool = false
    ) throws(InvalidLine) -> SecretText {
        let token =
            switch content {
            case .bare(let text): SecretText(text)
            case .object(let object): try token(object, names)
            }
        if !isJWT { try checkAgreement(of: names) }
        guard token.bytes.count > 0 else { throw InvalidLine(id, "the line has no token") }
        if !isJWT, object == nil, isPadded {
            throw InvalidLine(id, "the token has spaces or tabs around it")
        }
        return isJWT ? token : try opaque(token, "the token")
    }

    /// An optional code or access token; null means absent.
    package func opaque(_ name: String) throws(InvalidLine) -> SecretText? {
        guard let text = try text(name) else { return nil }
        return try opaque(SecretText(text), "'\(name)'")
    }

    private func opaque(_ secret: SecretText, _ name: String) throws(InvalidLine) -> SecretText {
        do {
            try validateOpaqueToken(secret)
        } catch {
            throw InvalidLine(id, "\(name) \(error)")
        }
        return secret
    }

    private func token(
        _ object: JSONText, _ names: [String]
    ) throws(InvalidLine) -> SecretText {
        for name in names {
            if let text = object.secret(name) { return SecretText(text) }
            if let value = object[name] {
                throw InvalidLine(id, "the token is \(value.kind), not a string")
            }
        }
        throw InvalidLine(id, missing: names.first ?? "token")
    }

    /// Two tokens in one line: one of them would be lost.
    private func checkAgreement(of names: [String]) throws(InvalidLine) {
        let texts = names.compactMap { name in object?[name]?.string.map { (name, $0) } }
        guard let first = texts.first, let other = texts.first(where: { $0.1 != first.1 }) else {
            return
        }
        throw InvalidLine(id, "'\(first.0)' and '\(other.0)' differ")
    }

    /// The object; nil for a bare text.
    package var object: JSONText? {
        if case .object(let object) = content { object } else { nil }
    }

    /// The bare text; nil for an object.
    package var bare: SecretText? {
        if case .bare(let text) = content { SecretText(text) } else { nil }
    }

    /// An optional text; null means absent.
    package func text(_ name: String) throws(InvalidLine) -> String? {
        switch object?[name] {
        case nil, .null: return nil
        case .string(let text): return text
        case let other?: throw InvalidLine(id, "'\(name)' is \(other.kind), not a string")
        }
    }

    /// The client that an item names; nil for the one of the settings.
    package func clientID() throws(InvalidLine) -> ClientID? {
        guard let text = try text("client_id") else { return nil }
        do {
            return try ClientID(validating: text)
        } catch {
            throw InvalidLine(id, "'client_id' \(error.fault)")
        }
    }
}

/// Why a line is not an item.
package struct InvalidLine: Error, Hashable, Sendable, CustomStringConvertible {
    /// The id of the item in the input, if it could be read.
    package let id: JSON?
    /// What is wrong, without quoting the line: it may hold a token.
    package let reason: String
    /// In a migration, the user's id with the old team, if it could be read.
    package let oldUserID: String?
    /// The member that is missing; nil for other faults.
    package let missingMember: String?

    /// The reason.
    package var description: String { reason }

    /// Describes the fault of a line.
    package init(_ id: JSON?, _ reason: String, oldUserID: String? = nil) {
        (self.id, self.reason, self.oldUserID) = (id, reason, oldUserID)
        missingMember = nil
    }

    /// Describes a line without a member that it must have.
    package init(_ id: JSON?, missing member: String) {
        (self.id, reason, oldUserID) = (id, "the line has no member '\(member)'", nil)
        missingMember = member
    }
}

extension SecretBytes {
    /// Whether they are a line of a file whose lines end in CRLF.
    fileprivate var endsWithCarriageReturn: Bool {
        withSpan { $0.count > 0 && $0[$0.count - 1] == UInt8(ascii: "\r") }
    }

    /// The bytes without spaces, tabs and carriage returns at both ends; the same object if there
    /// is nothing to remove.
    fileprivate func trimmingSpace() -> SecretBytes {
        withSpan { bytes in
            let text = rangeWithoutSpace(bytes)
            guard text.count < count else { return self }
            var trimmed = SecretBuffer(capacity: text.count)
            for index in text { trimmed.append(bytes[index]) }
            return trimmed.finished()
        }
    }
}

extension ItemLine {
    /// An optional time; null means absent.
    package func moment(_ name: String) throws(InvalidLine) -> NumericDate? {
        switch object?[name] {
        case nil, .null: return nil
        case .integer(let seconds) where NumericDate(seconds).isWritable:
            return NumericDate(seconds)
        case .string(let text): if let date = NumericDate(timeText: text) { return date }
        default: break
        }
        throw InvalidLine(
            id, "'\(name)' is neither an RFC 3339 time, nor YYYY-MM-DD hh:mm:ss, nor seconds")
    }
}

extension NumericDate {
    /// Reads RFC 3339, `YYYY-MM-DD hh:mm:ss` as databases write it, in UTC, or seconds since 1970.
    fileprivate init?(timeText text: String) {
        if let seconds = Int(text) {
            self.init(seconds)
            guard isWritable else { return nil }
            return
        }
        let isWithoutZone = text.utf8.count == 19 && text.utf8.dropFirst(10).first == 0x20
        self.init(rfc3339: isWithoutZone ? text + "Z" : text)
    }
}

extension ItemLine {
    /// Checks that the line is no result of 'siwa migrate export', whose `user_id` is the old one.
    package func checkImported() throws(InvalidLine) {
        guard object?["to_team"] == nil else {
            throw InvalidLine(nil, "the line is a result of 'siwa migrate export', not of import")
        }
    }
}
