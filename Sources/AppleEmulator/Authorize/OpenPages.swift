/// The pages that wait for a person, each found by a text that only it knows and that is
/// good for one answer.
struct OpenPages {
    /// The oldest page is forgotten when there are more.
    static let limit = 1000

    private var requests: [String: AuthorizationRequest] = [:]
    /// The texts, oldest first.
    private var order: [String] = []

    mutating func open(_ request: AuthorizationRequest) -> String {
        if order.count >= Self.limit { requests[order.removeFirst()] = nil }
        let text = Fresh.text(32, of: Fresh.alphanumeric)
        requests[text] = request
        order.append(text)
        return text
    }

    mutating func close(_ text: String) -> AuthorizationRequest? {
        guard let request = requests.removeValue(forKey: text) else { return nil }
        order.removeAll { $0 == text }
        return request
    }
}
