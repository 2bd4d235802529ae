internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords
internal import SIWASystem
internal import Synchronization

/// The files that a start of the server reads, besides the keys: the configuration and what it names.
/// They are examined while the server runs, so that nobody learns of their faults from a restart.
final class StartFiles: Sendable {
    private let configurationFile: String?
    private let world: ServerWorld
    /// The last examined certificates, whose examination opens a port.
    private let examined = Mutex<[RouteTable.Listener: ExaminedIdentity]>([:])
    /// What the files had that only a reload reads again, when they were read last.
    private let loaded = Mutex<Contents>([:])

    /// The fingerprints of files, by their paths.
    typealias Contents = [String: String]

    private struct ExaminedIdentity: Sendable {
        let identity: TLSIdentity
        let isUsable: Bool
    }

    /// - Parameter configurationFile: if nil, the configuration is searched for as `siwa` does.
    init(_ configurationFile: String?, in world: ServerWorld) {
        (self.configurationFile, self.world) = (configurationFile, world)
    }

    /// What is wrong with the files, and which of them have something else than what was remembered.
    struct Findings {
        /// Why a start would fail now, one sentence without a full stop for each file; empty if it
        /// would not.
        var faults: [String] = []
        /// The paths of changed files, sorted, without those that cannot be read.
        var changes: [String] = []
    }

    /// Reads the files.
    func examine() async -> Findings {
        let (configuration, settings): Inputs
        do throws(Diagnosis) {
            (configuration, settings) = try inputs()
        } catch {
            return Findings(faults: [error.message])
        }
        let base = world.base
        let named = [
            fault { () throws(Diagnosis) in
                try LoadedServer.examineFiles(of: settings, configuration)
            },
            fault { () throws(Diagnosis) in
                if let file = settings.keySetFile { _ = try KeySet(file: file, in: base) }
            },
            fault { () throws(Diagnosis) in
                let folder = try settings.stateFolder(
                    vaultFile: try configuration.vaultFile(), base.variables)
                try UnsavedTokenFile.check(in: folder, base)
            },
            fault { () throws(Diagnosis) in
                do {
                    try configuration.serverStore(.eachStatement(.seconds(5))).requireAccess()
                } catch {
                    throw Diagnosis(error)
                }
            },
        ]
        let faults =
            named.compactMap(\.self) + configuration.profileFileFaults
            + (settings.delivery.map { LoadedDelivery.faults($0, in: base) } ?? [])
            + (await certificateFaults(settings))
        let (old, now) = (loaded.withLock { $0 }, contents(of: (configuration, settings)))
        return Findings(
            faults: faults,
            changes: old.keys.filter { now[$0] != nil && now[$0] != old[$0] }.sorted())
    }

    /// What the files have now that only a reload reads again, without those that cannot be read.
    func contents() -> Contents { (try? inputs()).map(contents) ?? [:] }

    private typealias Inputs = (ServedConfiguration, ServerSettings)

    private func inputs() throws(Diagnosis) -> Inputs {
        let base = world.base
        let configuration = try ServedConfiguration(configurationFile, in: base).quiet
        return (
            configuration,
            try ServerSettings(configuration, variables: base.variables, words: base.words)
        )
    }

    private func contents(of inputs: Inputs) -> Contents {
        let (configuration, settings) = inputs
        let delivery = settings.delivery
        let files = [settings.keySetFile, delivery?.secretFile, delivery?.authorityFile]
        let listeners = RouteTable.Listener.allCases.compactMap { settings.listener($0)?.tls }
        var contents: Contents = [:]
        for path in files.compactMap(\.self) + configuration.authorityFiles
            + listeners.flatMap({ [$0.certificate, $0.key] })
        {
            guard let read = try? world.base.files.read(path) else { continue }
            contents[path] = SecretText(read.contents).fingerprint
        }
        return contents
    }

    /// Remembers what was read.
    func remember(_ contents: Contents) { loaded.withLock { $0 = contents } }

    private func fault(_ body: () throws(Diagnosis) -> Void) -> String? {
        do throws(Diagnosis) {
            try body()
            return nil
        } catch {
            return error.message
        }
    }

    private func certificateFaults(_ settings: ServerSettings) async -> [String] {
        var faults: [String] = []
        for listener in RouteTable.Listener.allCases {
            guard let own = settings.listener(listener) else { continue }
            do throws(Diagnosis) {
                guard let identity = try own.identity(in: world.base, of: listener) else {
                    continue
                }
                if await !isUsable(identity, listener), let files = own.tls {
                    faults.append(
                        "server.\(listener.rawValue).tls: \(files.certificate) and \(files.key) "
                            + "are not a certificate and its key in PEM")
                }
            } catch {
                faults.append(error.message)
            }
        }
        return faults
    }

    private func isUsable(
        _ identity: TLSIdentity, _ listener: RouteTable.Listener
    ) async -> Bool {
        if let last = examined.withLock({ $0[listener] }), last.identity == identity {
            return last.isUsable
        }
        var isUsable = true
        do throws(ServerError) {
            try await HTTPServer.check(identity)
        } catch {
            // That no port is free is no fault of a file.
            guard error == .identity else { return true }
            isUsable = false
        }
        let result = ExaminedIdentity(identity: identity, isUsable: isUsable)
        examined.withLock { $0[listener] = result }
        return isUsable
    }
}
