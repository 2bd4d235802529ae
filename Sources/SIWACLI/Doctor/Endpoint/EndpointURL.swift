internal import SIWAApplication
internal import SIWALifecycle

/// The URL of a notification endpoint, checked against the rules of Apple's developer portal.
struct EndpointURL: Sendable {
    let text: String
    /// What is wrong with it; nil if it is valid. The portal has the same rules for redirect URIs.
    private let fault: RedirectURIError?

    init(_ text: String) {
        self.text = text
        do throws(RedirectURIError) {
            _ = try RedirectURI(validating: text)
            fault = nil
        } catch {
            fault = error
        }
    }

    var usesTLS: Bool { !text.hasPrefix("http://") }

    /// The name or the address of the server, without port and brackets.
    var host: String {
        let authority = text.drop { $0 != ":" }.dropFirst(3).prefix { !"/?".contains($0) }
        return authority.hasPrefix("[")
            ? String(authority.dropFirst().prefix { $0 != "]" })
            : String(authority.prefix { $0 != ":" })
    }

    /// Whether a request can be sent to it at all, although perhaps not by Apple.
    var isUsable: Bool {
        switch fault {
        case nil: true
        case .address, .localhost, .domainName: !host.isEmpty
        case .scheme:
            text.hasPrefix("http://") && EndpointURL("https://" + text.dropFirst(7)).isUsable
        case .character, .fragment, .user, .port: false
        }
    }

    var line: CheckLine {
        let name = EndpointCheck.Stage.url.rawValue
        guard let fault else { return CheckLine(name, .ok, "\(text): absolute, https") }
        let isLocal = fault != .scheme && isUsable
        return CheckLine(
            name, isLocal ? .warning : .failed, "the URL \(fault)",
            advice: isLocal
                ? "check the URL that you enter in Apple's developer portal, too"
                : "give the absolute https URL that you enter in Apple's developer portal")
    }
}
