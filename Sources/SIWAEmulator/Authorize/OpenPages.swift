/// The pages that wait for a person, each found by a random text that only the page contains and
/// that is valid for one submission.
struct OpenPages {
    /// The most pages; the oldest are then removed.
    static let limit = 1000

    private var requests: [String: ReceivedAuthorizationRequest] = [:]
    /// The texts, oldest first.
    private var order: [String] = []

    mutating func open(
        _ request: ReceivedAuthorizationRequest, using random: inout RandomStream
    ) -> String {
        if order.count >= Self.limit { requests[order.removeFirst()] = nil }
        let text = random.text(32)
        requests[text] = request
        order.append(text)
        return text
    }

    mutating func close(_ text: String) -> ReceivedAuthorizationRequest? {
        guard let request = requests.removeValue(forKey: text) else { return nil }
        order.removeAll { $0 == text }
        return request
    }
}
