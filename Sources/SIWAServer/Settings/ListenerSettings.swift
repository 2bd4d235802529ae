internal import SIWAApplication
import SIWAHTTPServer
internal import SIWAJOSE

struct ListenerSettings: Hashable, Sendable {
    /// Where it listens.
    let address: ListenAddress
    /// The files of its certificate and key; nil without TLS.
    let tls: TLSFiles?
    /// Whether a reverse proxy is in front of it.
    let isBehindProxy: Bool
    /// The folder of the default socket, which is created if it is missing.
    let standardFolder: String?

    /// The files of a certificate and its private key.
    struct TLSFiles: Hashable, Sendable {
        /// The certificate and its chain, in PEM.
        let certificate: String
        /// The private key, in PEM.
        let key: String
    }

    /// An address without TLS.
    init(_ address: ListenAddress) {
        (self.address, tls, isBehindProxy, standardFolder) = (address, nil, false, nil)
    }

    /// The default socket of the API.
    init(standardFolder folder: String) {
        address = .unix(path: folder + "/api.sock", group: nil)
        (tls, isBehindProxy, standardFolder) = (nil, false, folder)
    }

    static let names = ["listen", "group", "tls", "behind_proxy"]

    init(_ reader: SettingsReader, resolve: (String) -> String) throws(Diagnosis) {
        address = try Self.address(reader, resolve)
        isBehindProxy = try reader.flag("behind_proxy") ?? false
        standardFolder = nil
        guard let files = try reader.object("tls", knowing: ["certificate", "key"]) else {
            tls = nil
            return
        }
        if case .unix = address { throw reader.error("tls", "cannot be used with a Unix socket") }
        tls = TLSFiles(
            certificate: resolve(try files.requiredText("certificate")),
            key: resolve(try files.requiredText("key")))
    }

    private static func address(
        _ reader: SettingsReader, _ resolve: (String) -> String
    ) throws(Diagnosis) -> ListenAddress {
        let text = try reader.requiredText("listen")
        let group = try reader.text("group")
        guard let address = ListenAddress(text, group: group, resolve) else {
            throw reader.error(
                "listen", "'\(printable(text))' is not HOST:PORT, unix:PATH or systemd:NAME",
                hints: ["HOST is an IP address, such as 127.0.0.1 or [::1]"])
        }
        if group != nil, !text.hasPrefix("unix:") {
            throw reader.error("group", "can only be used with unix:PATH")
        }
        return address
    }

    /// Throws unless the listener is on loopback, uses TLS, or is behind a proxy.
    ///
    /// - Parameter isLocal: whether only processes on this machine can connect.
    func checkProtection(
        isLocal: Bool, of listener: RouteTable.Listener
    ) throws(Diagnosis) {
        guard isLocal || tls != nil || isBehindProxy else {
            let place = "server.\(listener.rawValue)"
            throw Diagnosis(
                .configuration, "\(place).listen is neither on loopback nor protected by TLS",
                hints: [
                    "add \"tls\": {\"certificate\": FILE, \"key\": FILE} to \(place)",
                    "or add \"behind_proxy\": true if a reverse proxy with TLS is in front of it",
                ], exitCode: .settings)
        }
    }
}

extension ListenAddress {
    /// Reads `HOST:PORT`, `unix:PATH` or `systemd:NAME`; nil for any other text.
    init?(_ text: String, group: String? = nil, _ resolve: (String) -> String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard !path.isEmpty else { return nil }
            self = .unix(path: resolve(path), group: group)
            return
        }
        if text.hasPrefix("systemd:") {
            let name = String(text.dropFirst(8))
            guard !name.isEmpty else { return nil }
            self = .inherited(name: name)
            return
        }
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        let isAddress = host.allSatisfy { $0.isHexDigit || $0 == "." || $0 == ":" }
        guard isAddress, !host.isEmpty else { return nil }
        self = .tcp(host: host, port: port)
    }
}
