internal import SIWAJOSE

// Tokens of an unusual shape, under a good signature.
extension BadToken {
    static let shapes = subjects + duplicates + extensions + parts + texts + sizes

    private static let subjects: [BadToken] = [
        claims("T60", "no sub") { _ in [("sub", nil)] },
        claims("T60", "sub is empty") { _ in [("sub", "")] },
        claims("T60", "sub is an object", false) { _ in [("sub", ["$ne": ""])] },
    ]

    private static let duplicates: [BadToken] = [
        raw(
            "T61", "two alg in the header",
            header: {
                #"{"alg":"none",\#($0.header.text.dropFirst())"#
            }),
        raw(
            "T61", "two sub in the payload, the second of which is the user's",
            false, result: .acceptable,
            payload: {
                #"{"sub":"001999.attacker.1999",\#($0.claims.text.dropFirst())"#
            }),
    ]

    private static let extensions: [BadToken] = [
        header("T62", "crit names an extension that nobody knows") { _ in
            [("crit", ["urn:example:unknown"]), ("urn:example:unknown", 1)]
        },
        header("T62", "crit is empty", false, result: .acceptable) { _ in [("crit", [])] },
        header("T63", "b64 is false and critical") { _ in [("crit", ["b64"]), ("b64", false)] },
    ]

    private static let parts: [BadToken] = [
        text("T64", "two parts") { good, _ in good.parts[0] + "." + good.parts[1] },
        text("T64", "four parts") { good, _ in good.token + ".AAAA" },
        text("T64", "five parts", false) { good, _ in good.token + ".AAAA.AAAA" },
        text("T64", "empty", false) { _, _ in "" },
        text("T64", "the JSON serialization", false) { good, _ in
            let json: JSON = [
                "protected": .string(good.parts[0]), "payload": .string(good.parts[1]),
                "signature": .string(good.parts[2]),
            ]
            return json.text
        },
        text("T64", "a padded signature", false, result: .acceptable) { good, _ in
            good.token + "=="
        },
        text("T64", "white space around the token", false, result: .acceptable) { good, _ in
            " " + good.token + "\n"
        },
    ]

    private static let texts: [BadToken] = [
        raw("T65", "the payload is an array", payload: { "[\($0.claims.text)]" }),
        raw("T65", "the payload is null", false, payload: { _ in "null" }),
        text("T65", "a claim that is not UTF-8") { good, issuer in
            let claims = good.claims.changed([("x", "?")]).bytes
            // The question mark of x is the last one, before the quotation mark and the brace.
            var payload = claims
            payload[payload.count - 3] = 0xFF
            return try await good.signed(good.input(good.header.bytes, payload), by: issuer)
        },
        claims("T65", "NUL behind aud", false) { [("aud", .string($0.audience + "\0"))] },
        raw(
            "T65", "exp is NaN", false,
            payload: {
                $0.claims.changed([("exp", "EXP")]).text.replacingEvery("\"EXP\"", with: "NaN")
            }),
        claims("T65", "auth_time is 2⁵³ + 1", false, result: .acceptable) { _ in
            [("auth_time", .integer(9_007_199_254_740_993))]
        },
    ]

    private static let sizes: [BadToken] = [
        raw(
            "T66", "a header with 500 nested arrays",
            header: {
                let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
                return #"{"x":\#(deep),\#($0.header.text.dropFirst())"#
            }),
        claims("T66", "a token of 1 MB", false, result: .acceptable) { _ in
            [("x", .string(String(repeating: "x", count: 785_000)))]
        },
    ]

    /// A well signed token of texts that are not JSON as a program writes it.
    private static func raw(
        _ id: String, _ comment: String, _ isRepresentative: Bool = true,
        result: VectorResult? = nil,
        header: @escaping @Sendable (GoodSignIn) -> String = { $0.header.text },
        payload: @escaping @Sendable (GoodSignIn) -> String = { $0.claims.text }
    ) -> BadToken {
        text(id, comment, isRepresentative, result: result) { good, issuer in
            try await good.signed(good.input(header(good), payload(good)), by: issuer)
        }
    }
}
