internal import SIWACrypto
internal import SignInWithApple

/// The private key: whether it can be read, by whom, which one it is, and whether it signs.
struct KeyCheckup: Sendable {
    private let patient: Patient

    init(_ patient: Patient) { self.patient = patient }

    var lines: [CheckLine] {
        switch patient.key {
        case .success(let key):
            [
                CheckLine(
                    "private_key", .ok,
                    "\(key.source.value.description) (\(key.source.origin)): P-256, public half "
                        + key.privateKey.publicKey.fingerprint)
            ] + repairs(key) + [permissions(key)] + files + [selfTest(key.privateKey)]
        case .failure(let error):
            [missing(error), CheckLine("self_test", .skipped, "there is no usable key")]
        }
    }

    private func missing(_ error: SettingsError) -> CheckLine {
        guard patient.given != nil, (try? patient.settings.keySource(in: patient.world)) == nil
        else { return CheckLine("private_key", error) }
        return CheckLine("private_key", .skipped, "not set, so the signature is not compared")
    }

    private func repairs(_ key: LoadedKey) -> [CheckLine] {
        guard !key.repairs.isEmpty else { return [] }
        return [
            CheckLine(
                "key_shape", .warning, "it had to be repaired: \(key.undone)",
                advice: "other software may not take it so: download the .p8 again, or mend it")
        ]
    }

    private func permissions(_ key: LoadedKey) -> CheckLine {
        guard key.source.value.path != nil else {
            return CheckLine("key_permissions", .skipped, "the key is not in a file")
        }
        guard let warning = key.fileWarning else {
            return CheckLine("key_permissions", .ok, "nobody else can read or write it")
        }
        return CheckLine(
            "key_permissions", .warning, warning.message, advice: warning.remedy)
    }

    private var files: [CheckLine] {
        guard let client = patient.client else { return [] }
        let other = patient.surroundings.keyFiles.map(\.path)
            .filter { $0 != client.key.source.value.path }
        return CheckLine.lines(
            "key_files", ClientFindings(client, patient.surroundings).keyFile,
            otherwise: other.isEmpty
                ? "no other key is near"
                : "in use is \(client.key.source.value.description); there are also "
                    + other.joined(separator: ", "))
    }

    /// A site's OpenSSL may be told to do strange things; and a fault that shows once in 256
    /// signatures is a leading zero that was dropped.
    private func selfTest(_ key: P256PrivateKey) -> CheckLine {
        let message = Array("siwa doctor".utf8)
        for _ in 0..<Self.signatures {
            // Signing verifies what it signed.
            guard let signature = try? key.signature(for: message.span),
                signature.rawRepresentation.count == 64
            else {
                return CheckLine(
                    "self_test", .failed, "a signature does not verify",
                    advice: "download the .p8 again, and look at the site's openssl.cnf")
            }
        }
        return CheckLine(
            "self_test", .ok, "\(Self.signatures) signatures of 64 bytes, all verified")
    }

    private static let signatures = 300
}
