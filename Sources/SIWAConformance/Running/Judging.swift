// From what was seen to a result.
extension CheckResult {
    /// The result of a check that is not carried out.
    func skipped(_ skip: Skip) -> Self {
        switch skip {
        case .missing(let reason): with(.skipped, reason, isMissing: true)
        case .pointless(let reason): with(.skipped, reason)
        }
    }

    /// The result of what was sent. A rate limit or an open variant leaves it without a verdict,
    /// unless another one is wrong.
    func judged(by variants: [Variant]) -> Self {
        let sent = variants.filter(\.isSent)
        let wrong = sent.filter { $0.isWrong && !$0.isLimited }
        if let shown = wrong.first(where: { $0.adviceReason == nil }) ?? wrong.first {
            let reason = adviceReason ?? shown.adviceReason
            let isAdvice = severity == .advice || reason != nil
            return with(isAdvice ? .advice : .failed, shown.outcome, variants, reason)
        }
        if sent.contains(where: \.isLimited) {
            return with(
                .inconclusive, "the backend limits the rate: give a lower 'rate'", variants)
        }
        if let open = sent.first(where: \.isOpen) {
            return with(.inconclusive, open.outcome, variants)
        }
        guard let shown = sent.first else {
            return with(.skipped, variants.first?.outcome ?? "nothing was sent", variants)
        }
        return with(.held, shown.outcome, variants)
    }

    private func with(
        _ result: Result, _ detail: String, _ variants: [Variant] = [], _ reason: String? = nil,
        isMissing: Bool = false
    ) -> Self {
        CheckResult(
            check: check, severity: reason == nil ? severity : .advice, flow: flow,
            channel: channel, result: result, detail: detail, variants: variants,
            adviceReason: reason ?? adviceReason, isMissing: isMissing)
    }
}

extension CheckResult.Variant {
    /// Whether the backend refused it for the rate alone.
    fileprivate var isLimited: Bool { status == 429 }
}
