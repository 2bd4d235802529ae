internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// Whether Apple can post notifications to an endpoint: its TLS, and its answers to a forged
/// notification and to a genuine one.
struct EndpointCheck: Sendable {
    let lines: [CheckLine]

    /// The checks, in this order.
    enum Stage: String, CaseIterable {
        case url = "endpoint_url"
        case dns
        case connection
        case tls
        case certificate
        case redirect
        case forged = "forged_notification"
        case signed = "signed_notification"
        case time = "response_time"
    }

    /// - Parameter emulator: signs a notification for an endpoint that trusts it.
    init(
        _ url: EndpointURL, emulator: BaseURL?, _ context: DoctorContext, _ network: AppleConnection
    ) async {
        var lines = [url.line]
        if url.isUsable {
            lines += await TLSCheck(url, network, at: context.now).lines
            let isConnected = lines.allSatisfy { $0.status != .failed || $0.isAboutServer }
            if isConnected {
                let check = AnswerCheck(
                    url: url, emulator: emulator, context: context, network: network)
                lines += await check.lines(after: lines)
            }
        }
        let names = lines.map(\.name)
        self.lines =
            lines
            + Stage.allCases.map(\.rawValue).filter { !names.contains($0) }
            .map { CheckLine($0, .skipped, "not reached") }
    }

    /// The conclusion if no check failed.
    ///
    /// - Parameters:
    ///   - lines: the checks.
    ///   - authorityFile: authorities that were trusted besides the system's. Apple does not have them.
    static func passed(
        _ lines: [CheckLine], trusting authorityFile: String?
    ) -> DoctorReport.Cause {
        let doubt = lines.first { $0.name == Stage.forged.rawValue && $0.status == .warning }
        let isProven = lines.contains { $0.name == Stage.signed.rawValue && $0.status == .ok }
        if let doubt, !isProven {
            return DoctorReport.Cause(
                seen:
                    "whether Apple can post to this endpoint is not known: a forged notification was "
                    + doubt.seen, advice: doubt.advice ?? "")
        }
        guard let authorityFile else {
            return DoctorReport.Cause(
                seen: "as far as can be seen from here, Apple can post to this endpoint",
                advice: """
                    enter the URL in Apple's developer portal, at the primary App ID: Sign in with \
                    Apple, Server-to-Server Notification Endpoint
                    """)
        }
        return DoctorReport.Cause(
            seen: "a machine that trusts \(authorityFile) can post to this endpoint",
            advice: """
                Apple trusts public authorities only: before you enter the URL in Apple's developer \
                portal, check it without --ca-file and ca_file
                """)
    }
}

extension CheckLine {
    init(
        _ stage: EndpointCheck.Stage, _ status: Status, _ seen: String, advice: String? = nil
    ) {
        self.init(stage.rawValue, status, seen, advice: advice)
    }

    /// Whether the check concerns a server that was reached.
    fileprivate var isAboutServer: Bool {
        [EndpointCheck.Stage.url, .tls, .certificate].map(\.rawValue).contains(name)
    }
}

/// Name, connection, TLS and certificate.
private struct TLSCheck {
    let lines: [CheckLine]

    private static let timeout = Duration.seconds(10)

    init(_ url: EndpointURL, _ network: AppleConnection, at now: NumericDate) async {
        guard url.usesTLS else {
            lines = [EndpointCheck.Stage.dns, .connection, .tls, .certificate].map {
                CheckLine($0, .skipped, "plain HTTP")
            }
            return
        }
        func handshake(_ offer: TLSOffer) async throws(TransportError) -> TLSHandshake {
            try await network.session.world.inspectTLS(
                url.text, url.host, offer, Self.timeout, network.transportSettings)
        }
        do throws(TransportError) {
            let found = try await handshake(.modern)
            lines = Self.reached + [Self.agreed(found), Self.certificate(found, url, at: now)]
        } catch {
            if error.isHandshake, let outdated = try? await handshake(.everything) {
                lines =
                    Self.reached + [
                        Self.refused(outdated), Self.certificate(outdated, url, at: now),
                    ]
            } else {
                lines = Self.failed(error)
            }
        }
    }

    private static let reached = [
        CheckLine(.dns, .ok, "the host name was resolved"),
        CheckLine(.connection, .ok, "connected"),
    ]

    private static func agreed(_ found: TLSHandshake) -> CheckLine {
        CheckLine(.tls, .ok, "\(found.words): forward secrecy")
    }

    private static func refused(_ found: TLSHandshake) -> CheckLine {
        CheckLine(
            .tls, .failed,
            found.hasForwardSecrecy
                ? "the server takes no newer protocol than \(found.words)"
                : "\(found.words) has no forward secrecy, and the server takes nothing better",
            advice: """
                enable TLS 1.2 and 1.3 with ECDHE cipher suites; in nginx: ssl_protocols TLSv1.2 \
                TLSv1.3, and no ssl_ciphers
                """)
    }

    private static func failed(_ error: TransportError) -> [CheckLine] {
        switch error.kind {
        case .nameLookup:
            [CheckLine(.dns, .failed, error.seen, advice: "check the host name in the URL and DNS")]
        case .tls, .cut, .certificate, .malformed:
            reached + [
                CheckLine(
                    .tls, .failed, error.seen,
                    advice: "check that a server with TLS listens on the port of the URL")
            ]
        default:
            [
                reached[0],
                CheckLine(
                    .connection, .failed, error.seen,
                    advice: "check the firewall, and that the reverse proxy listens"),
            ]
        }
    }

    private static func certificate(
        _ found: TLSHandshake, _ url: EndpointURL, at now: NumericDate
    ) -> CheckLine {
        if let issuer = found.missingIssuers.first { return incomplete(found, issuer) }
        let expiry = found.expiry(at: now)
        if let fault = found.certificateFault {
            return CheckLine(
                .certificate, .failed,
                "not valid for \(url.host): \(fault)\(expiry.isPast ? "; it \(expiry.words)" : "")",
                advice: fault.mentions("expired") || fault.mentions("not yet valid")
                    ? "renew the certificate that the server sends, with its chain"
                    : "install a certificate for this name, of an authority that Apple trusts")
        }
        let seen = "\(found.sent): complete chain, valid for \(url.host), \(expiry.words)"
        guard expiry.isSoon else { return CheckLine(.certificate, .ok, seen) }
        return CheckLine(
            .certificate, .warning, seen,
            advice: """
                renew it, and reload the server or the proxy that has it: once it has expired, Apple \
                cannot post
                """)
    }

    private static func incomplete(_ found: TLSHandshake, _ issuer: String) -> CheckLine {
        CheckLine(
            .certificate, .failed,
            found.certificateFault == nil
                ? "\(found.sent), but not that of the issuer '\(issuer)', which only this machine has"
                : "\(found.sent), but not that of the issuer '\(issuer)', which this machine does not trust",
            advice: """
                append the intermediate certificates to the server's certificate file \
                (fullchain.pem); if '\(issuer)' is an authority of your own, Apple does not trust it
                """)
    }
}

/// When a certificate expires, as it is reported.
private struct CertificateExpiry {
    let words: String
    let isPast: Bool
    /// Whether it must be renewed now: Let's Encrypt's clients renew theirs 30 days before.
    let isSoon: Bool

    private static let warningTime = Duration.seconds(14 * 86400)

    init(_ date: NumericDate?, at now: NumericDate) {
        guard let date else {
            (words, isPast, isSoon) = ("without a date of expiry", false, true)
            return
        }
        let left = date - now
        (isPast, isSoon) = (left < .zero, left < Self.warningTime)
        words =
            isPast
            ? "expired at \(date.rfc3339), \(left.words(units: 1)) ago"
            : "expires at \(date.rfc3339), in \(left.words(units: 1))"
    }
}

extension TLSHandshake {
    /// How many certificates the server sent.
    fileprivate var sent: String {
        "the server sends \(certificateCount) "
            + (certificateCount == 1 ? "certificate" : "certificates")
    }

    fileprivate func expiry(at now: NumericDate) -> CertificateExpiry {
        CertificateExpiry(certificateExpiry.map { NumericDate($0) }, at: now)
    }
}

extension TLSHandshake {
    /// Protocol and cipher suite.
    fileprivate var words: String {
        let number = version.hasPrefix("TLSv") ? "TLS " + version.dropFirst(4) : version
        return "\(number == "TLS 1" ? "TLS 1.0" : number) with \(cipher)"
    }
}

extension TransportError {
    /// Whether the server was reached but the handshake failed.
    fileprivate var isHandshake: Bool { kind == .tls || kind == .cut }

    var seen: String { "\(kind.words): \(message)" }
}
