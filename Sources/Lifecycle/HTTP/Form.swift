internal import JOSE
package import SIWACrypto

/// The parameters of a form body (`application/x-www-form-urlencoded`) or of a query, in their
/// order.
package struct Form: Sendable {
    /// The value of a parameter: public or secret.
    package enum Value: Sendable {
        /// A public value.
        case plain(String)
        /// A value that traces show as its fingerprint.
        case secret(SecretText)
    }

    /// One parameter.
    package struct Parameter: Sendable {
        /// The name of the parameter, not encoded.
        package let name: String
        /// The value of the parameter, not encoded.
        package let value: Value
    }

    /// The parameters, in their order.
    package let parameters: [Parameter]

    /// Collects parameters.
    package init(_ parameters: [(String, Value)]) {
        self.parameters = parameters.map { Parameter(name: $0, value: $1) }
    }

    /// Collects the parameters of a request to Apple, those of the client first.
    package init(
        of clientID: ClientID, _ clientSecret: SecretText, _ parameters: [(String, Value)]
    ) {
        self.init(
            [("client_id", .plain(clientID.rawValue)), ("client_secret", .secret(clientSecret))]
                + parameters)
    }

    /// The secrets among the values.
    package var secrets: [SecretText] {
        parameters.compactMap { parameter in
            if case .secret(let secret) = parameter.value { secret } else { nil }
        }
    }

    /// The media type that Apple requires; it answers any other with `invalid_client`, without a
    /// description.
    package static let contentType = "application/x-www-form-urlencoded"

    /// The body; all characters except RFC 3986's unreserved ones are percent-encoded.
    package func encoded() -> SecretBytes {
        var body = SecretBuffer(capacity: 1024)
        for (index, parameter) in parameters.enumerated() {
            if index > 0 { body.append(UInt8(ascii: "&")) }
            Self.encode([UInt8](parameter.name.utf8).span, into: &body)
            body.append(UInt8(ascii: "="))
            switch parameter.value {
            case .plain(let text): Self.encode([UInt8](text.utf8).span, into: &body)
            case .secret(let secret): secret.bytes.withSpan { Self.encode($0, into: &body) }
            }
        }
        return body.finished()
    }

    /// Copies bytes that need no escape in runs: nearly all of a token.
    private static func encode(_ bytes: Span<UInt8>, into body: inout SecretBuffer) {
        var start = 0
        for index in bytes.indices where !isUnreserved(bytes[index]) {
            body.append(contentsOf: bytes.extracting(start..<index))
            body.append(UInt8(ascii: "%"))
            let (high, low) = bytes[index].hexadecimalDigits(upperCase: true)
            body.append(high)
            body.append(low)
            start = index + 1
        }
        body.append(contentsOf: bytes.extracting(start...))
    }
}

/// Whether the byte needs no escape anywhere in a URI: a letter, a digit or one of `-._~` in ASCII
/// (RFC 3986 §2.3).
package func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        true
    default: false
    }
}

extension HTTPRequest {
    /// The names of the parameters in its form, which a trace may show.
    package var parameterNames: [String] {
        body.withSpan { bytes in
            var names: [String] = []
            var name: [UInt8]? = []
            for index in bytes.indices {
                switch bytes[index] {
                case UInt8(ascii: "&"): name = []
                case UInt8(ascii: "="):
                    if let name { names.append(String(decoding: name, as: UTF8.self)) }
                    name = nil
                case let byte: name?.append(byte)
                }
            }
            return names
        }
    }
}
