internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

extension ProfileClients {
    /// Takes over the secrets of the profiles whose key is the same: they serve until they expire,
    /// whatever the signer does.
    func adoptSecrets(of old: ProfileClients) {
        for client in all {
            guard let key = client.signing?.signingKey,
                let other = old.all.first(where: { other in
                    other.clientID == client.clientID && other.teamID == client.teamID
                        && other.signing?.signingKey.id == key.id
                        && other.signing?.signingKey.publicKey.x963Representation
                            == key.publicKey.x963Representation
                })
            else { continue }
            client.secrets.adopt(other.secrets)
        }
    }

    /// Asks every signer for a first secret. One that takes long is awaited in the background.
    ///
    /// - Returns: what went wrong, although the server can start: notifications are received without
    ///   a secret.
    /// - Throws: ``Diagnosis`` if a setting must be fixed.
    func askSigners(_ clocks: Clocks) async throws(Diagnosis) -> [String] {
        let signed = all.filter(\.isSignedElsewhere)
        let deadline = Deadline(after: .seconds(30), by: clocks.timekeeper)
        let faults = await withTaskGroup(of: (Int, ClientSecretError?).self) { group in
            for (index, client) in signed.enumerated() {
                group.addTask {
                    do throws(ClientSecretError) {
                        try await client.secrets.prepare(until: deadline, by: clocks)
                        return (index, nil)
                    } catch {
                        return (index, error)
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var warnings: [String] = []
        for (index, client) in signed.enumerated() {
            guard let fault = faults[index] else { continue }
            if case .signer(let failure) = fault,
                [.invalidSignature, .unusable].contains(failure.kind)
            {
                throw Diagnosis(fault)
            }
            warnings.append((client.name.isEmpty ? "" : "profile '\(client.name)': ") + "\(fault)")
        }
        return warnings
    }
}

extension ServerContext {
    /// Has signers asked in the background before their secrets expire. Runs until cancelled.
    func keepSecretsSigned() async {
        while !Task.isCancelled {
            for client in clients.current.all where client.isSignedElsewhere {
                client.secrets.renew(at: clocks.now())
            }
            try? await clocks.timekeeper.sleep(.seconds(1))
        }
    }
}

extension ServiceEvent {
    /// A signer was asked for a secret.
    static func signed(
        for profile: String, _ failure: SignerFailure?, _ time: Duration
    ) -> ServiceEvent {
        guard let failure else {
            return ServiceEvent(.info, "signed", [.profile(profile), .time(time)])
        }
        return ServiceEvent(
            failure.isTemporary ? .warning : .error, "signer_failed",
            [
                .profile(profile), .time(time), .init("code", .string(failure.kind.label)),
                .init("message", .string(Diagnosis(failure).message)),
            ])
    }
}

extension SignerFailure.Kind {
    /// The value of the label `outcome`.
    var label: String {
        switch self {
        case .unavailable: "unavailable"
        case .refused: "refused"
        case .denied: "denied"
        case .invalidSignature: "invalid_signature"
        case .unusable: "unusable"
        case .key: "key"
        }
    }
}

extension JSON.Member {
    fileprivate static func profile(_ name: String) -> Self { Self("profile", .string(name)) }

    fileprivate static func time(_ time: Duration) -> Self {
        Self(
            "duration_ms",
            .integer(
                Int(time.components.seconds) * 1000
                    + Int(time.components.attoseconds / 1_000_000_000_000_000)))
    }
}
