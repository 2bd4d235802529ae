internal import SignInWithApple

/// The parameters of a query or a posted form, decoded strictly: a client that forgets to
/// percent-encode should learn it here and not from Apple.
struct ReceivedForm {
    struct Parameter: Hashable, Sendable {
        let name: String
        let value: String
    }

    /// The parameters in the order they came.
    let parameters: [Parameter]
    /// Where the checks of the request are written down.
    let trail: CheckTrail

    /// Reads a request's body, or its query when it has no body to send.
    init(
        _ request: EmulatorRequest, _ trail: CheckTrail = CheckTrail()
    ) throws(Refusal) {
        if request.method == "GET" {
            try self.init(encoded: Array(request.query.utf8), trail)
        } else {
            try Self.checkContentType(request.fields["content-type"])
            trail.passed("Content-Type", Form.contentType)
            try self.init(encoded: request.body, trail)
        }
    }

    private init(encoded: [UInt8], _ trail: CheckTrail) throws(Refusal) {
        var parameters: [Parameter] = []
        for pair in encoded.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = halves.count > 1 ? halves[1] : []
            parameters.append(
                Parameter(name: try Self.decode(halves[0]), value: try Self.decode(value)))
        }
        self.parameters = parameters
        self.trail = trail
    }

    /// The value of a parameter; one without a value counts as absent (RFC 6749 §3.2).
    subscript(name: String) -> String? {
        parameters.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    func required(_ name: String) throws(Refusal) -> String {
        guard let value = self[name] else {
            throw Refusal(.invalidRequest, check: "\(name)", because: "missing or empty")
        }
        return value
    }

    func refuseRepetition() throws(Refusal) {
        var seen: Set<String> = []
        for parameter in parameters where !seen.insert(parameter.name).inserted {
            throw Refusal(
                .invalidRequest, check: "\(parameter.name)", because: "stands there twice")
        }
    }

    /// A suffix such as `;charset=UTF-8` is fine; anything else is an unexplained `invalid_client`.
    private static func checkContentType(_ field: String?) throws(Refusal) {
        let type = (field ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        guard type == Form.contentType else {
            let found = field.map { "'\($0)'" } ?? "missing"
            throw Refusal(
                .invalidClient, check: "Content-Type",
                because: "\(found), must be \(Form.contentType)")
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
                    .invalidRequest, check: "parameters",
                    because: "byte \(byte) must be percent-encoded")
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw Refusal(.invalidRequest, check: "parameters", because: "a value is not UTF-8")
        }
        return decoded
    }

    private static func escaped(_ rest: inout ArraySlice<UInt8>) throws(Refusal) -> UInt8 {
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
        else {
            throw Refusal(
                .invalidRequest,
                check: "parameters", because: "a '%' without two hexadecimal digits behind it")
        }
        return high << 4 | low
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
