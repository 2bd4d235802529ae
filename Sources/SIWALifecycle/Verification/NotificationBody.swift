package import SIWAJOSE

extension CompactJWS {
    /// Reads what Apple posts to a server: `{"payload":"…"}` around a JWT, on any number of lines.
    /// A bare JWT is accepted; lines after it are ignored.
    ///
    /// - Parameter reader: parses the JWT; nil for a reader without cached headers.
    /// - Throws: ``NotificationBodyError``, which names what was received instead.
    package static func read(
        notificationBody body: [UInt8], with reader: SharedJWSReader? = nil
    ) throws(NotificationBodyError) -> CompactJWS {
        guard body.count <= 2 * limit else { throw .tooLong(body.count) }
        // Apple's has no space before it, and is not copied.
        let text = body.first == UInt8(ascii: "{") ? body : Array(body.drop { $0 <= 0x20 })
        let token: [UInt8]
        switch text.first {
        case UInt8(ascii: "{"): token = try payload(of: text)
        case UInt8(ascii: "\""): throw .quoted
        default:
            if text.starts(with: "payload=".utf8) { throw .form }
            let line = text.prefix { $0 != 0x0A }
            token = Array(line.last == 0x0D ? line.dropLast() : line)
        }
        do {
            return if let reader { try reader.read(token) } else { try CompactJWS(token) }
        } catch {
            throw .token(error)
        }
    }

    private static func payload(
        of text: [UInt8]
    ) throws(NotificationBodyError) -> [UInt8] {
        let body: JSONText
        do {
            body = try JSONText(text)
        } catch {
            throw .json(error)
        }
        guard let payload = body.string("payload") else { throw .payload(body["payload"]?.kind) }
        return payload
    }
}

/// Why a text is not a notification.
package enum NotificationBodyError: Error, Hashable, Sendable {
    /// Longer than any notification.
    case tooLong(Int)
    /// A JSON string: the value of `payload` with its quotation marks.
    case quoted
    /// A form, `payload=…`; Apple is not known to send one.
    case form
    /// It begins like JSON but is invalid.
    case json(JSONError)
    /// `payload` is missing, or the kind of value it is in place of a string.
    case payload(String?)
    /// The value of `payload` is not a JWT.
    case token(CompactJWSError)
}

extension NotificationBodyError: CustomStringConvertible {
    /// What is wrong, without quoting the body.
    package var description: String {
        switch self {
        case .tooLong(let count): "\(count) bytes are more than any notification has"
        case .quoted: "it is in quotation marks; 'jq -r .payload' prints it without"
        case .form: "it is a form; Apple posts JSON, {\"payload\":\"…\"}"
        case .json(let error): "the body \(error)"
        case .payload(nil): "the body has no member 'payload'"
        case .payload(let kind?): "'payload' is \(kind), expected a string"
        case .token(let error): error.description
        }
    }
}
