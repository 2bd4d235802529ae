import SIWATestSupport

/// Apple's successful answer, after which the connection is closed.
let tokens = """
    {"access_token":"aACCESS","token_type":"Bearer","expires_in":3600}
    """

extension [Step] {
    /// Reads a request, answers it, and ends the connection orderly.
    static func answering(
        _ status: Int, _ body: String, type: String = "application/json", fields: [String] = []
    ) -> [Step] {
        [
            .readRequest,
            .answer(status, body, type: type, fields: fields + ["Connection: close"]), .endSending,
        ]
    }
}
