internal import SignInWithApple

extension Finding {
    /// What a clock off by `offset` (Apple's minus ours) does to secrets; nil when it does no harm.
    ///
    /// One ahead of Apple's puts `iat` into the future; one behind makes a secret expire before
    /// it arrives.
    static func clock(off offset: Duration, secretLifetime: Duration) -> Finding? {
        let seconds = offset.components.seconds
        let advice = "set it, or have it set over the network: 'timedatectl set-ntp true'"
        if offset < .zero - ClientSecret.backdating {
            return Finding(
                .clockAhead, seen: "this machine's clock is \(-seconds) s ahead of Apple's",
                advice: advice)
        }
        guard offset >= secretLifetime else { return nil }
        return Finding(
            .clockBehind,
            seen: "this machine's clock is \(seconds) s behind Apple's, longer than a secret lives",
            advice: advice)
    }
}
