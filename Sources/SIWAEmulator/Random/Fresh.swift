/// Texts that nobody can predict, even with a seed: they tell one start of the emulator from
/// another, and its own pages from those of others.
enum Fresh {
    /// `count` letters and digits.
    static func text(_ count: Int) -> String {
        var random = RandomStream.system
        return random.text(count)
    }

    /// A request id that is not Apple's: of a control request.
    static func requestID() -> String {
        var random = RandomStream.system
        return random.requestID()
    }
}
