/// A setting that protects the connection to a database less than siwa's default.
package struct StoreWeakness: Hashable, Sendable {
    /// The weakness, as a sentence without a full stop.
    package let reason: String
    /// Where it is set, such as `environment PGSSLMODE`; nil for the vault's URL.
    package let place: String?

    /// Describes a weakness.
    package init(_ reason: String, setBy place: String?) {
        (self.reason, self.place) = (reason, place)
    }
}
