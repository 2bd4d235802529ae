internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle

extension ServerResponse {
    /// A JSON response.
    static func json(
        _ json: JSON, status: Int = 200, fields: [HTTPField] = []
    ) -> ServerResponse {
        .json(json.bytes, status: status, fields: fields)
    }

    /// A response of JSON that is serialised already.
    static func json(
        _ bytes: [UInt8], status: Int = 200, fields: [HTTPField] = []
    ) -> ServerResponse {
        ServerResponse(
            status: status,
            fields: [HTTPField("Content-Type", "application/json")] + fields,
            body: .bytes(bytes))
    }

    /// A text response.
    static func text(
        _ text: String, _ type: String = "text/plain; charset=utf-8", status: Int = 200
    ) -> Self {
        Self(
            status: status, fields: [HTTPField("Content-Type", type)],
            body: .bytes(Array(text.utf8)))
    }
}
