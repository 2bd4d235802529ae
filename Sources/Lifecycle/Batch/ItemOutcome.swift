/// Apple's answer about one item.
package enum ItemOutcome<Answer: Sendable>: Sendable {
    /// What was asked for was done.
    case done(Answer)
    /// Apple refused it for this item.
    case refused(AppleError)
}
