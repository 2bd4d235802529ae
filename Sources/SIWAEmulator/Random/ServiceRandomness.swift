/// What Apple's side of the protocol generates, each from its own random numbers.
struct ServiceRandomness {
    var codes: RandomStream
    var tokens: RandomStream
    var users: RandomStream
    /// The transactions of sign-in pages.
    var pages: RandomStream
    var notifications: RandomStream
    var baits: RandomStream
    /// The order of the published keys.
    var keyOrder: RandomStream

    init(_ source: SeededSource) {
        codes = source.stream("codes")
        tokens = source.stream("tokens")
        users = source.stream("users")
        pages = source.stream("pages")
        notifications = source.stream("notifications")
        baits = source.stream("baits")
        keyOrder = source.stream("key order")
    }
}
