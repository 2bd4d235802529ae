/// Every check, in the order in which they are listed.
package enum Catalogue {
    package static let all: [Check] =
        signatures + keys + claims + tokenKinds + shapes + requests + web + codes + traffic
        + notifications + deletion + manners

    /// The checks of `siwa-emulator conform`.
    package static let conform = all.filter { $0.severity != nil }

    /// The check called `id`.
    package static func check(_ id: String) -> Check? { byID[id] }

    private static let byID = Dictionary(
        all.map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
}
