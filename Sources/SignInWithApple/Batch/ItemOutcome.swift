/// Apple's answer about one item.
public enum ItemOutcome<Answer: Sendable>: Sendable {
    /// What was asked for was done.
    case done(Answer)
    /// Apple said no to this item.
    case refused(AppleError)
}

extension HTTPResponse {
    /// What an answer means for an item: a refusal of the client refuses the run.
    ///
    /// - Parameters:
    ///   - secrets: those of the request, which nothing that is printed may repeat.
    ///   - read: reads a 2xx.
    func verdict<Answer: Sendable>(
        hiding secrets: @autoclosure () -> [SecretText], read: (HTTPResponse) -> Answer?
    ) -> BatchVerdict<ItemOutcome<Answer>> {
        switch judged(showing: redacting(secrets()), read: read) {
        case .success(let answer): .finished(.done(answer))
        case .failure(.refused(let error)) where error.code.concernsEveryItem:
            .stop(.refused(error))
        case .failure(.refused(let error)): .finished(.refused(error))
        case .failure(let cause): .trouble(cause)
        }
    }
}

extension AppleError.Code {
    /// Whether it would be the answer to every item: it is about the client or the call.
    var concernsEveryItem: Bool {
        [.invalidClient, .unauthorizedClient, .unsupportedGrantType, .invalidScope].contains(self)
    }
}
