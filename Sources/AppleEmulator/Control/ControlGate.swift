internal import SignInWithApple

/// Who may drive the emulator: programs on this machine, and no web page, neither by a
/// cross-site request (which carries `Origin`) nor by a name of its own that
/// resolves to this machine (which shows in `Host`).
enum ControlGate {
    static func check(_ request: EmulatorRequest) throws(ControlError) {
        guard request.fields["origin"] == nil else {
            throw ControlError(status: 403, "control requests must not come from a browser")
        }
        guard let host = request.fields["host"], isLoopback(host) else {
            throw ControlError(
                status: 403, "control requests must name localhost or a loopback address as Host")
        }
    }

    private static func isLoopback(_ field: String) -> Bool {
        if field.hasPrefix("[") { return field.prefix { $0 != "]" } == "[::1" }
        let host = field.prefix { $0 != ":" }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress = octets.count == 4 && octets.allSatisfy { UInt8($0) != nil }
        return host.lowercased() == "localhost" || (isAddress && octets[0] == "127")
    }
}
