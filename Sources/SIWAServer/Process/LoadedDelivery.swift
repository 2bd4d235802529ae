internal import SIWAApplication
internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// The delivery to the application: the URL, the secrets that sign, and the transport.
struct LoadedDelivery: Sendable {
    private let settings: Reloadable<DeliveryWorker.Settings>
    private let transport: Reloadable<any Transport>

    /// Reads the secrets and the authorities.
    ///
    /// - Throws: ``Diagnosis``.
    init(_ delivery: DeliverySettings, in world: ServerWorld) throws(Diagnosis) {
        settings = Reloadable(try DeliveryWorker.Settings(delivery, in: world.base))
        transport = Reloadable(try Self.transport(delivery, in: world))
    }

    /// Reads the secrets and the authorities again.
    ///
    /// - Throws: ``Diagnosis``; the old ones then stay in use.
    func reload(_ delivery: DeliverySettings, in world: ServerWorld) throws(Diagnosis) {
        let new = try LoadedDelivery(delivery, in: world)
        settings.replace(with: new.settings.current)
        transport.replace(with: new.transport.current)
    }

    /// The parts for the worker.
    var parts: ServerContext.Delivery {
        ServerContext.Delivery(settings: settings, transport: ReloadedTransport(transport))
    }

    /// Why the secrets and the authorities could not be used at a start; empty if they could. Reads
    /// their files.
    static func faults(_ delivery: DeliverySettings, in world: World) -> [String] {
        var faults: [String] = []
        do throws(Diagnosis) {
            _ = try DeliveryWorker.Settings(delivery, in: world)
        } catch {
            faults.append(error.message)
        }
        do throws(Diagnosis) {
            try checkAuthorities(delivery, in: world)
        } catch {
            faults.append(error.message)
        }
        return faults
    }

    private static func checkAuthorities(
        _ delivery: DeliverySettings, in world: World
    ) throws(Diagnosis) {
        guard let path = delivery.authorityFile else { return }
        let contents: SecretBytes
        do {
            contents = try world.files.read(path).contents
        } catch {
            throw Diagnosis(
                .configuration, "server.deliver.ca_file cannot be read: \(error)",
                hints: error.advice(or: "give a file of certificates in PEM"),
                exitCode: .settings)
        }
        guard holdsAuthorities(contents) else {
            throw Diagnosis(
                .configuration, "server.deliver.ca_file '\(path)' contains no PEM certificate",
                hints: ["give a file that has -----BEGIN CERTIFICATE----- lines"],
                exitCode: .settings)
        }
    }

    private static func transport(
        _ delivery: DeliverySettings, in world: ServerWorld
    ) throws(Diagnosis) -> any Transport {
        try checkAuthorities(delivery, in: world.base)
        do throws(TransportError) {
            return try world.deliveryTransport(delivery.authorityFile)
        } catch {
            throw Diagnosis(
                .unavailable, "events cannot be delivered: \(error.message)",
                hints: ["check server.deliver.ca_file, and that libcurl is installed"],
                exitCode: .settings)
        }
    }
}

/// A transport that SIGHUP replaces; requests in flight keep the old one.
private struct ReloadedTransport: Transport {
    private let current: Reloadable<any Transport>

    init(_ current: Reloadable<any Transport>) { self.current = current }

    func send(
        _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse {
        try await current.current.send(request, timeout: timeout)
    }
}

extension DeliveryWorker.Settings {
    /// Reads the secrets.
    fileprivate init(_ settings: DeliverySettings, in world: World) throws(Diagnosis) {
        let place = "server.deliver.secret_file"
        do {
            let contents = try world.files.read(settings.secretFile).contents
            self.init(
                settings.target, try WebhookSecrets(contents), maxInFlight: settings.maxInFlight)
        } catch let error as WebhookSecretsError {
            throw Diagnosis(
                .configuration, "\(place): \(settings.secretFile): \(error)",
                hints: [
                    """
                    restore it; if it is lost, remove \(settings.secretFile), create a new one (siwa-server \
                    webhook-secret --out FILE), and give it to the application
                    """
                ], exitCode: .settings)
        } catch {
            // The application knows the secret of a file that exists.
            let isMissing = (error as? FileError)?.isMissing ?? false
            throw Diagnosis(
                .configuration, "\(place) cannot be read: \(error)",
                hints: [
                    isMissing
                        ? "restore it, or create a new one: siwa-server webhook-secret --out FILE"
                        : "let this user read \(settings.secretFile)"
                ], exitCode: .settings)
        }
    }
}
