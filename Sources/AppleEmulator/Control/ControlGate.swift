internal import SignInWithApple

/// Who may drive the emulator: programs on this machine, and no web page, neither by a
/// cross-site request (which carries `Origin`) nor by a name of its own that
/// resolves to this machine (which shows in `Host`).
enum ControlGate {
    static func check(_ request: EmulatorRequest) throws(ControlError) {
        guard request.fields["origin"] == nil else {
            throw ControlError(status: 403, "control requests must not come from a browser")
        }
        guard let host = request.fields["host"].flatMap(WebAddress.host(of:)),
            WebAddress.isLoopback(host)
        else {
            throw ControlError(
                status: 403, "control requests must name localhost or a loopback address as Host")
        }
    }
}
