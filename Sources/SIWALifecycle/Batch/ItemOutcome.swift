/// Apple's answer about one item.
package enum ItemOutcome<Answer: Sendable>: Sendable {
    /// The request was accepted.
    case done(Answer)
    /// Apple refused it for this item.
    case refused(AppleError)
}
