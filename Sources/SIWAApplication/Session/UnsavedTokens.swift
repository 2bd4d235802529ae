internal import SIWACrypto
package import SIWAJOSE
package import SIWALifecycle
internal import SIWASystem
package import SIWAVaultRecords

/// The files `unsaved-tokens` of siwa-server: where they are, and whose tokens they hold.
package enum UnsavedTokens {
    /// The most processes that can share a folder.
    package static let mostFiles = 32

    /// The file of a process, by its number from 1.
    package static func file(_ number: Int, in folder: String) -> String {
        folder + "/unsaved-tokens" + (number == 1 ? "" : ".\(number)")
    }

    /// The folder of what siwa-server keeps between two runs: by default the service manager's, or that
    /// of an embedded vault; nil without one.
    ///
    /// - Parameter setting: `server.state`; nil if absent.
    package static func folder(
        _ setting: String?, vaultFile: String?, _ variables: (String) -> String?
    ) -> String? {
        // systemd separates several folders by colons.
        let managed = variables("STATE_DIRECTORY").flatMap {
            $0.split(separator: ":").first.map(String.init)
        }
        let beside = vaultFile.map { file in
            file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
        }
        guard let folder = setting ?? managed ?? beside else { return nil }
        return folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    }

    /// Whose token a line is; nil if the line is damaged.
    package static func owner(of line: JSON) -> VaultUser? {
        guard let client = line["client_id"]?.string, let user = line["user_id"]?.string,
            let clientID = try? ClientID(validating: client)
        else { return nil }
        return try? VaultUser(clientID, validating: user)
    }
}

extension Session {
    /// Fails if siwa-server keeps a token of a user that is not in the vault yet, as its API does: who
    /// revokes or removes all tokens of the user would miss it.
    package func requireAllTokensStored(of user: VaultUser) throws {
        try requireStored("a token of '\(user.userID)'", "nothing was done") { $0 == user }
    }

    /// Fails if siwa-server keeps tokens of a client that are not in the vault yet, after all others were
    /// revoked.
    package func requireAllTokensStored(of client: ClientID) throws {
        try requireStored("a token of a user of \(client)", "may work") { $0.clientID == client }
    }

    private func requireStored(
        _ token: String, _ state: String, where concerns: (VaultUser) -> Bool
    ) throws {
        for path in try unsavedTokenFiles() where try owners(in: path).contains(where: concerns) {
            throw Diagnosis(
                StoreError(
                    .busy, "\(token) waits in \(path) to be stored, and \(state)",
                    remedy: "siwa-server stores it when it runs and its database works; then run "
                        + "the same command again"))
        }
    }

    private func unsavedTokenFiles() throws -> [String] {
        let setting = settings.file.flatMap { file in
            file.server?["state"]?.string.map {
                settings.resolve($0, from: .file(file.path))
            }
        }
        let folder = UnsavedTokens.folder(
            setting, vaultFile: Settings.path(inVault: try settings.vaultURL().value),
            world.variables)
        guard let folder else { return [] }
        return (1...UnsavedTokens.mostFiles).map { UnsavedTokens.file($0, in: folder) }
            .filter { world.files.exists($0) }
    }

    private func owners(in path: String) throws -> [VaultUser] {
        let file: LocalFile
        do throws(FileError) {
            file = try world.files.readRegular(path)
        } catch {
            // It went meanwhile.
            guard !error.isMissing else { return [] }
            throw Diagnosis(error)
        }
        // The rest of the file is reserved space.
        return file.contents.revealed().prefix { $0 != 0 }.split(separator: 0x0A)
            .compactMap { (try? JSON(Array($0))).flatMap(UnsavedTokens.owner) }
    }
}
