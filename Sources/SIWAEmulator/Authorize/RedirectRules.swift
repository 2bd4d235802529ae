internal import SIWAJOSE
internal import SIWALifecycle

/// Apple's rules on `redirect_uri`: https, a domain name, no fragment, and registered exactly.
struct RedirectRules {
    /// Whether an address of this machine is accepted, which Apple does not allow.
    private let allowsLoopback: Bool
    /// The error for an address that is missing or not registered. Documented is
    /// `unauthorized_client`, recorded is `invalid_request` with the page's usual sentence.
    private let unregistered: Refusal.Code
    /// The sentence of Apple's page.
    private let sentence: String

    init(_ behaviors: Behaviors) {
        allowsLoopback = behaviors.allowsLoopbackRedirect
        unregistered = behaviors.unregisteredRedirect
        sentence = behaviors.authorizeTexts.invalidRedirect
    }

    /// Accepts only an address that `client` may redirect its users to.
    ///
    /// - Throws: ``Refusal``, shown as a page: a browser must not be sent to an address that is not
    ///   known to be the client's.
    func check(_ address: String?, of client: EmulatedClient) throws(Refusal) {
        guard let address else {
            throw refusal(because: "missing or empty")
        }
        if let fault = fault(in: address) {
            throw Refusal(.invalidRequest, saying: sentence, in: "redirect_uri", because: fault)
        }
        guard client.redirectURIs.contains(where: address.isExactly) else {
            throw refusal(
                because: "'\(address.clipped)' is not registered for \(client.clientID)")
        }
    }

    /// The refusal of a client or an address that is not registered for the web.
    func refusal(
        of check: String = "redirect_uri", because fault: String, advising advice: String? = nil
    ) -> Refusal {
        Refusal(
            unregistered,
            saying: unregistered == .invalidRequest ? sentence : nil,
            in: check, because: fault, advising: advice)
    }

    /// What is wrong with an address, as the end of a sentence.
    private func fault(in address: String) -> String? {
        guard let url = WebAddress(address) else { return "is not an http or https URL" }
        guard !url.hasFragment else { return "has a fragment" }
        guard !url.isLoopback else {
            return allowsLoopback
                ? nil : "is on this machine, which only the switch allow_loopback_redirect allows"
        }
        guard url.scheme == .https else { return "must begin with https://" }
        return url.hasDomainName ? nil : "must have a domain name, no IP address"
    }
}
