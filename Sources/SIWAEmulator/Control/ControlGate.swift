internal import SIWALifecycle

/// Decides which requests may control the emulator: those of programs on this machine and of the
/// console's page.
///
/// Another web page is recognised by `Origin` or `Sec-Fetch-Site`, or by `Host` if its own name
/// resolves to this machine (DNS rebinding). A change from a browser also requires the token that
/// only the console's page contains.
enum ControlGate {
    /// Accepts a request from a program, and a browser's request that changes nothing.
    static func check(_ request: EmulatorRequest) throws(ControlError) {
        guard let host = request.fields["host"].flatMap(WebAddress.host(of:)),
            isLoopback(host)
        else {
            throw ControlError(
                status: 403, "control requests must name localhost or a loopback address as Host")
        }
        guard request.fields["origin"].map({ $0 == request.origin }) ?? true,
            request.isSameSite || request.opensPage
        else {
            throw ControlError(
                status: 403, "control requests must not come from another page in a browser")
        }
        guard request.method == "GET" || request.isForm || !request.isFromBrowser else {
            throw ControlError(
                status: 403, "control requests from a browser must be the console's forms")
        }
    }

    /// Accepts a form of the console's own page.
    static func check(_ token: String?, is expected: String) throws(ControlError) {
        guard let token, isEqual(Array(token.utf8), Array(expected.utf8)) else {
            throw ControlError(
                status: 403, "the form was not sent by the console's page: reload /emulator")
        }
    }

    /// Compares in constant time.
    private static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension EmulatorRequest {
    /// Whether a browser sent it; programs neither send `Origin` nor `Sec-Fetch-Site`.
    var isFromBrowser: Bool {
        fields["origin"] != nil || fields["sec-fetch-site"] != nil
    }

    /// Whether its content type is that of a form, which is also curl's default for every body.
    fileprivate var isForm: Bool {
        let type = (fields["content-type"] ?? "").prefix { $0 != ";" }.filter { $0 != " " }
        return type.lowercased() == Form.contentType
    }

    /// Whether the request comes from the same site, as browsers tell in `Sec-Fetch-Site`; `none`
    /// means that a person typed the address.
    fileprivate var isSameSite: Bool {
        ["same-origin", "none"].contains(fields["sec-fetch-site"] ?? "none")
    }

    /// Whether a person followed a link on any site to a page.
    fileprivate var opensPage: Bool {
        method == "GET" && fields["sec-fetch-mode"] == "navigate"
            && fields["sec-fetch-dest"] == "document"
    }
}
