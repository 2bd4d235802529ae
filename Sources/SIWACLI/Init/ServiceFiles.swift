/// The files of the service that the packages and the units make (docs/server.md).
enum ServiceFiles {
    static let configuration = "/etc/siwa/config.json"
    /// The name of the link to the key, beside the configuration, that the units name.
    static let credential = "apple.p8"
    /// What the service can write.
    static let state = "/var/lib/siwa"
}
