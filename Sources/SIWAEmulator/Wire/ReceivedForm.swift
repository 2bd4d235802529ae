internal import SIWALifecycle

/// The parameters of a query or a posted form, decoded strictly, so that missing percent-encoding
/// is found here and not at Apple.
struct ReceivedForm: Sendable {
    struct Parameter: Hashable, Sendable {
        let name: String
        let value: String
        /// Whether a space of the value was sent as `+`.
        let hasPlus: Bool
    }

    /// The parameters in the order received.
    let parameters: [Parameter]

    /// Reads a request's body, or its query if its method has no body.
    init(_ request: EmulatorRequest) throws(Refusal) {
        if request.method != "POST" {
            try self.init(encoded: Array(request.query.utf8))
        } else {
            try Self.checkContentType(request.fields["content-type"])
            try self.init(encoded: request.body)
        }
    }

    private init(encoded: [UInt8]) throws(Refusal) {
        var parameters: [Parameter] = []
        for pair in encoded.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = halves.count > 1 ? halves[1] : []
            parameters.append(
                Parameter(
                    name: try Self.decode(halves[0]), value: try Self.decode(value),
                    hasPlus: value.contains(UInt8(ascii: "+"))))
        }
        self.parameters = parameters
    }

    /// The value of a parameter; one without a value counts as absent (RFC 6749 §3.2).
    subscript(name: String) -> String? {
        parameters.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    func required(
        _ name: String, or code: Refusal.Code = .invalidRequest
    ) throws(Refusal) -> String {
        guard let value = self[name] else {
            throw Refusal(code, in: name, because: "missing or empty")
        }
        return value
    }

    func hasPlus(in name: String) -> Bool { parameters.contains { $0.name == name && $0.hasPlus } }

    /// The first parameter that occurs twice.
    var repeated: String? {
        var seen: Set<String> = []
        return parameters.first { !seen.insert($0.name).inserted }?.name
    }

    /// Accepts a suffix such as `;charset=UTF-8`; any other type is `invalid_client` without a
    /// description.
    private static func checkContentType(_ field: String?) throws(Refusal) {
        let type = (field ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        guard type == Form.contentType else {
            let found = field.map { "'\($0)'" } ?? "missing"
            throw Refusal(
                .invalidClient, in: "Content-Type", because: "\(found), must be \(Form.contentType)"
            )
        }
    }

    private static func decode(_ text: ArraySlice<UInt8>) throws(Refusal) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"): bytes.append(try escaped(&rest))
            case 0x21...0x7E: bytes.append(byte)
            default:
                throw Refusal(
                    .invalidRequest, in: "parameters",
                    because: "byte \(byte) must be percent-encoded")
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw Refusal(.invalidRequest, in: "parameters", because: "a value is not UTF-8")
        }
        return decoded
    }

    private static func escaped(_ rest: inout ArraySlice<UInt8>) throws(Refusal) -> UInt8 {
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
        else {
            throw Refusal(
                .invalidRequest,
                in: "parameters", because: "a '%' without two hexadecimal digits after it")
        }
        return high << 4 | low
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
