package import SIWACrypto
internal import SIWAJOSE

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

        /// Pairs a name with a value.
        package init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }
    }

    /// The parameters of the client, which are first; nil in a form without a client.
    private let client: ClientParameters?
    private let others: [Parameter]

    /// Collects parameters.
    package init(_ parameters: [(String, Value)]) {
        client = nil
        others = parameters.map { Parameter($0, $1) }
    }

    /// Collects the parameters of a request to Apple, those of the client first.
    init(of client: ClientParameters, _ others: [Parameter]) {
        (self.client, self.others) = (client, others)
    }

    /// The parameters, in their order.
    package var parameters: [Parameter] { (client?.parameters ?? []) + others }

    /// The secrets among the values.
    package var secrets: [SecretText] {
        var secrets: [SecretText] = []
        secrets.reserveCapacity(1 + others.count)
        if let client { secrets.append(client.secret) }
        for case .secret(let secret) in others.lazy.map(\.value) { secrets.append(secret) }
        return secrets
    }

    /// The media type that Apple requires; it answers any other with `invalid_client`, without a
    /// description.
    package static let contentType = "application/x-www-form-urlencoded"

    /// The body; all characters except RFC 3986's unreserved ones are percent-encoded.
    package func encoded() -> SecretBytes {
        // malloc has lists of pieces of one size up to 1,000 bytes, and searches for longer ones.
        var body = SecretBuffer(capacity: 960)
        client?.encoded.withSpan { body.append(contentsOf: $0) }
        for parameter in others {
            if body.count > 0 { body.append(UInt8(ascii: "&")) }
            Self.encode(parameter.name.utf8.span, into: &body)
            body.append(UInt8(ascii: "="))
            switch parameter.value {
            case .plain(let text): Self.encode(text.utf8.span, into: &body)
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

/// The parameters with which a client authenticates: the first of every form, encoded once for all
/// requests.
final class ClientParameters: Sendable {
    /// The client_secret.
    let secret: SecretText
    /// In their order.
    let parameters: [Form.Parameter]
    /// The beginning of a body.
    let encoded: SecretBytes

    init(_ clientID: ClientID, _ secret: SecretText) {
        self.secret = secret
        let form = Form([
            ("client_id", .plain(clientID.rawValue)), ("client_secret", .secret(secret)),
        ])
        (parameters, encoded) = (form.parameters, form.encoded())
    }
}

/// Whether the byte needs no escape anywhere in a URI: a letter, a digit or one of `-._~` in ASCII
/// (RFC 3986 §2.3).
package func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."),
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
