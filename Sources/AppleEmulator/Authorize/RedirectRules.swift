internal import JOSE
internal import Lifecycle

/// Apple's rules on `redirect_uri`: https, a domain name, no fragment, and registered exactly.
struct RedirectRules {
    /// Whether an address of this machine is accepted, which Apple does not allow.
    let allowsLoopback: Bool
    /// The error for an address that is missing or not registered. Documented is
    /// `unauthorized_client`, recorded is `invalid_request` with the page's usual sentence.
    let unregistered: Refusal.Code

    /// Accepts only an address that `client` may redirect its users to.
    ///
    /// - Throws: ``Refusal``, shown as a page: a browser must not be sent to an address that is not
    ///   known to be the client's.
    func check(_ address: String?, of client: EmulatedClient) throws(Refusal) {
        guard let address else {
            throw refusal("missing or empty")
        }
        if let fault = fault(in: address) {
            throw Refusal(
                .invalidRequest, saying: Refusal.invalidRedirect, in: "redirect_uri", because: fault
            )
        }
        guard client.redirectURIs.contains(where: address.isExactly) else {
            throw refusal(
                "'\(address.clipped)' is not registered for \(client.clientID)")
        }
    }

    private func refusal(_ fault: String) -> Refusal {
        Refusal(
            unregistered,
            saying: unregistered == .invalidRequest ? Refusal.invalidRedirect : nil,
            in: "redirect_uri", because: fault)
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
