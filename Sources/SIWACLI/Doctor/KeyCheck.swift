internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// Checks the private key: whether it can be read, who can read it, its identity, and whether it
/// signs.
struct KeyCheck: Sendable {
    private let context: DoctorContext

    init(_ context: DoctorContext) { self.context = context }

    func lines() async -> [CheckLine] {
        switch context.key {
        case .success(let key):
            [
                CheckLine(
                    "private_key", .ok,
                    "\(key.place): P-256, public half \(key.publicKey.fingerprint)")
            ] + repairs(key) + [permissions(key)] + files
                + (key.isElsewhere ? [await signer(key)] : [await selfTest(key)])
        case .failure(let error):
            [missing(error), CheckLine("self_test", .skipped, "there is no usable key")]
        }
    }

    private func missing(_ error: SettingsError) -> CheckLine {
        let source = try? context.settings.keySource(in: context.world)
        if context.isUnread(source) { return .unread("private_key") }
        let isGiven = context.given != nil || context.givenFault != nil
        guard isGiven, source == nil else { return CheckLine("private_key", error) }
        return CheckLine("private_key", .skipped, "not set, so the signature is not compared")
    }

    private func repairs(_ key: LoadedKey) -> [CheckLine] {
        guard !key.repairs.isEmpty else { return [] }
        return [
            CheckLine(
                "key_shape", .warning, "the key had to be repaired: \(key.undone)",
                advice: "other software may reject it: restore the .p8 as Apple gave it, or fix it")
        ]
    }

    private func permissions(_ key: LoadedKey) -> CheckLine {
        guard let path = key.source.value.path else {
            return CheckLine("key_permissions", .skipped, "the key is not in a file")
        }
        guard !context.world.isCredential(path) else {
            return CheckLine(
                "key_permissions", .skipped,
                "the service has a copy of its own; 'siwa-server check' looks at the file itself")
        }
        guard let warning = key.fileWarning else {
            return CheckLine("key_permissions", .ok, "only its owner can read or write it")
        }
        return CheckLine(
            "key_permissions", .warning, warning.message, advice: warning.remedy)
    }

    private var files: [CheckLine] {
        guard let client = context.client else { return [] }
        let other = context.localCandidates.keyFiles(besides: client.key.source.value.path)
            .map(\.path)
        return CheckLine.lines(
            "key_files", ClientFindings(client, context.localCandidates).keyFile,
            otherwise: other.isEmpty
                ? "no other key was found"
                : "\(client.key.source.value.description) is in use; other keys: "
                    + other.joined(separator: ", "))
    }

    /// Has a client_secret signed, which is sent to nobody.
    private func signer(_ key: LoadedKey) async -> CheckLine {
        let name = key.source.value.description
        do {
            try key.check()
            guard let client = context.client?.client else {
                return CheckLine("signer", .skipped, "\(name) was not asked: a setting is missing")
            }
            let timekeeper = context.world.clocks.timekeeper
            let start = timekeeper.elapsed()
            _ = try await client.mintSecret(at: context.now, timekeeper: timekeeper)
            return CheckLine(
                "signer", .ok,
                "\(name)\(owner(of: key)) answered within "
                    + "\((timekeeper.elapsed() - start).measured), and its signature verifies")
        } catch {
            let diagnosis = Diagnosis(error)
            return CheckLine(
                "signer", .failed, diagnosis.message,
                advice: diagnosis.hints.joined(separator: "; "))
        }
    }

    /// Whose file the signer is.
    private func owner(of key: LoadedKey) -> String {
        guard case .signer(let signer) = key.source.value else { return "" }
        let path: String? =
            switch signer.place {
            case .exec(let path, _, _), .socket(let path): path
            case .sshAgent(_, let socket): socket
            }
        guard let status = path.flatMap(context.world.files.status) else { return "" }
        return status.isForeign ? ", of another user," : ", of root or of this user,"
    }

    /// Signs repeatedly: the system's configuration can change how OpenSSL works, and dropping a
    /// leading zero would fail in only one of 256 signatures.
    private func selfTest(_ loaded: LoadedKey) async -> CheckLine {
        let key = loaded.signing(as: KeyID(unchecked: ""))
        let message = SecretBytes("siwa doctor".utf8)
        for _ in 0..<Self.signatures {
            guard let bytes = try? await key.signer.signature(for: message),
                let signature = try? key.verified(bytes, of: message),
                signature.rawRepresentation.count == 64
            else {
                return CheckLine(
                    "self_test", .failed, "a signature is not valid",
                    advice: "restore the .p8 as Apple gave it, and check openssl.cnf")
            }
        }
        return CheckLine(
            "self_test", .ok, "\(Self.signatures) signatures of 64 bytes, all verified")
    }

    private static let signatures = 300
}
