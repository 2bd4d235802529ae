internal import SIWACrypto
package import SIWALifecycle
internal import SIWASigners

extension Settings {
    /// Reads the settings of a signer. It is neither examined nor asked.
    func signerKey(
        _ signer: SignerSetting, _ source: Setting<PrivateKeySource>, in world: World
    ) throws(SettingsError) -> LoadedKey {
        try checkConfiguration(naming: source)
        let publicKey = try pinnedKey(signer.publicKey, source.origin, in: world)
        let place = try checked(signer.place, publicKey, source.origin, in: world)
        let limit = min(try signerTimeout(signer, source.origin), try timeout())
        return LoadedKey(
            publicKey: publicKey,
            signer: world.signer(
                SignerCall(
                    place: place, environment: Self.environment(of: place, world.variables),
                    limit: limit, isStrict: isStrict.value)),
            source: source, repairs: [], fileWarning: nil, linkedName: nil)
    }

    /// A user who can write a configuration that names a signer can run programs as this user.
    private func checkConfiguration(
        naming source: Setting<PrivateKeySource>
    ) throws(SettingsError) {
        guard case .profile = source.origin, let warning = file?.warning,
            file?.isWritableByOthers == true
        else { return }
        throw SettingsError(
            .unusableSigner,
            "the configuration names a signer, and others can change it: "
                + warning.message, hints: [warning.remedy])
    }

    private func signerTimeout(
        _ signer: SignerSetting, _ origin: Origin
    ) throws(SettingsError) -> Duration {
        guard let text = signer.timeout else { return .seconds(10) }
        guard let parsed = DurationArgument(argument: text)?.duration,
            parsed > .zero, parsed <= .seconds(300)
        else {
            throw SettingsError(
                "the signer's timeout '\(text)' is not a duration of at most 5m", from: origin)
        }
        return parsed
    }

    private func checked(
        _ place: SignerPlace, _ publicKey: P256PublicKey, _ origin: Origin, in world: World
    ) throws(SettingsError) -> SignerPlace {
        switch place {
        case .exec(let path, _, let variables):
            guard path.hasPrefix("/") else {
                throw SettingsError(
                    "the signer's program '\(path)' is not an absolute path", from: origin)
            }
            for variable in variables { try Self.check(variable: variable, origin) }
            return place
        case .socket: return place
        case .sshAgent(let fingerprint, let socket):
            let own = SSHKey.fingerprint(of: publicKey)
            guard fingerprint == own else {
                throw SettingsError(
                    .key, "the SSH key \(fingerprint) is not the public key, which is \(own)",
                    hints: ["'ssh-add -l' lists the keys of the agent"])
            }
            guard let socket = socket ?? nonEmpty(world.variables("SSH_AUTH_SOCK")) else {
                throw SettingsError(
                    .unusableSigner, "there is no SSH agent: SSH_AUTH_SOCK is not set",
                    hints: ["start one with 'eval $(ssh-agent)', or set agent_socket"])
            }
            return .sshAgent(fingerprint, socket: socket)
        }
    }

    private static func check(variable text: String, _ origin: Origin) throws(SettingsError) {
        let name = text.prefix { $0 != "=" }
        let isName =
            name.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "_") || Character(Unicode.Scalar(byte)).isLetter
                    || Character(Unicode.Scalar(byte)).isNumber
            } && name.first?.isNumber == false && text.utf8.allSatisfy { $0 != 0 }
        guard isName else {
            throw SettingsError("the signer's variable '\(name)' is not a name", from: origin)
        }
        guard !name.hasPrefix("LD_"), !name.hasPrefix("SIWA_") else {
            throw SettingsError(
                "a signer does not get the variable \(name): none that begins with LD_ or SIWA_",
                from: origin)
        }
    }

    /// The whole environment of a program that signs.
    private static func environment(
        of place: SignerPlace, _ variables: (String) -> String?
    ) -> [String] {
        guard case .exec(_, _, let listed) = place else { return [] }
        let inherited = ["HOME", "TMPDIR", "CREDENTIALS_DIRECTORY"].compactMap { name in
            variables(name).map { "\(name)=\($0)" }
        }
        let own = listed.compactMap { text in
            text.contains("=") ? text : variables(text).map { "\(text)=\($0)" }
        }
        let standard = ["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"] + inherited
        let names = Set(own.map { $0.prefix { $0 != "=" } })
        return standard.filter { !names.contains($0.prefix { $0 != "=" }) } + own
    }
}

/// A signer with everything that its calls need.
package struct SignerCall: Sendable {
    package let place: SignerPlace
    /// The whole environment of a program: `NAME=VALUE`.
    package let environment: [String]
    /// The time for a signature.
    package let limit: Duration
    /// Whether what belongs to other users is refused.
    package let isStrict: Bool

    /// The signer itself.
    package var signer: any ClientSecretSigner {
        switch place {
        case .exec(let path, let arguments, _):
            ExecSigner(
                path, arguments: arguments, environment: environment, limit: limit,
                isStrict: isStrict)
        case .socket(let path): SocketSigner(path, limit: limit, isStrict: isStrict)
        case .sshAgent(let fingerprint, let socket):
            SSHAgentSigner(
                fingerprint, socket: socket ?? "", limit: limit, isStrict: isStrict)
        }
    }
}
