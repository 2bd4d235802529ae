internal import SIWACrypto
internal import SIWADiagnosis
package import SIWAJOSE
package import SIWALifecycle

/// Why Apple may refuse a client, as far as visible on this machine.
package struct ClientFindings: Sendable {
    private let client: Client
    private let key: LoadedKey
    private var source: PrivateKeySource { key.source.value }
    private let localCandidates: LocalCandidates

    package init(_ loaded: LoadedClient, _ localCandidates: LocalCandidates) {
        client = loaded.client
        key = loaded.key
        self.localCandidates = localCandidates
    }

    /// Findings from the client's own secret, from files near its key, and from other profiles.
    ///
    /// - Parameter isWeb: whether the request concerned a sign-in on the web.
    package func all(at now: NumericDate, isWeb: Bool) -> [Finding] {
        (secret(at: now) + keyFile + profiles + (isWeb ? servicesID : [])).ranked
    }

    /// Findings from the claims of a secret of this client.
    package func secret(at now: NumericDate) -> [Finding] {
        guard let draft = try? client.draftSecret(at: now) else { return [] }
        let expected = ExpectedClient(
            teamID: client.teamID, clientID: client.clientID, keyID: client.signingKey.id)
        return ClientSecretFindings(in: draft, expecting: expected, at: now).all
    }

    /// Findings from the names of key files.
    package var keyFile: [Finding] {
        let keyID = client.signingKey.id
        if let swapped { return [swapped] }
        if let fitting {
            return [
                Finding(
                    .otherKeyFile, .error, .likely,
                    seen:
                        "\(fitting.path) is named for Key ID \(keyID), but contains a different key than "
                        + key.place,
                    advice: "use it: --key \(fitting.path), or \"private_key\" in the profile")
            ]
        }
        if let mistaken { return [mistaken] }
        let others = localCandidates.keyFiles(besides: source.path).filter {
            !isInUse($0) && !isOfOtherProfile($0)
        }
        guard key.keyIDInName == nil, !others.isEmpty else { return [] }
        let list = others.map(\.path).joined(separator: ", ")
        return [
            Finding(
                .otherKeyFile, .warning, .possible,
                seen: "\(source.description) is in use, and there are other keys: \(list)",
                advice: "'siwa doctor --online' finds the one that Apple accepts")
        ]
    }

    private func isOfOtherProfile(_ file: KeyFile) -> Bool {
        localCandidates.otherProfiles.contains {
            $0.keyPath == file.path || file.keyID != nil && $0.keyID == file.keyID
        }
    }

    /// Key ID and Team ID look alike. A file's name contains the Key ID, another profile both.
    private var swapped: Finding? {
        let (team, keyID) = (client.teamID.rawValue, client.signingKey.id.rawValue)
        guard team != keyID else { return nil }
        let names = ([key.keyIDInName] + localCandidates.keyFiles.map(\.keyID)).compactMap {
            $0?.rawValue
        }
        let isKeyFile = names.contains(team) && !names.contains(keyID)
        let isProfile = localCandidates.otherProfiles.contains {
            $0.teamID?.rawValue == keyID && $0.keyID?.rawValue == team
        }
        guard isKeyFile || isProfile else { return nil }
        return Finding(
            .keyAndTeamSwapped, .error, .likely,
            seen: "team_id is \(team), which is the Key ID of a key here, and key_id is \(keyID)",
            advice: "swap them: team_id \(keyID), key_id \(team)")
    }

    /// A file whose name has this Key ID but which contains another key.
    private var fitting: KeyFile? {
        let named = localCandidates.keyFiles.filter { $0.keyID == client.signingKey.id }
        return named.contains(where: isInUse) ? nil : named.first
    }

    /// The key is not that of key_id by the name of its file, or is another one than in its second
    /// place.
    package var mistaken: Finding? {
        let keyID = client.signingKey.id
        guard let named = key.keyIDInName, named != keyID else { return elsewhere }
        if let other = localCandidates.otherPlace, other.keyID == keyID {
            return Finding(
                .otherKeyFile, .error, .likely,
                seen: """
                    two different keys: \(key.place), named for Key ID \(named), is in use as Key ID \
                    \(keyID), and \(other.path) (\(other.origin)) is the key of \(keyID)
                    """,
                advice: linking(keyID))
        }
        return Finding(
            .keyFileName, .error, .likely,
            seen: "the key file \(key.place) is named for Key ID \(named), but key_id is \(keyID)",
            advice: "set key_id to \(named), or use the key of \(keyID)")
    }

    /// The link of the units is to one key. Where profiles have different Key IDs, turning it would
    /// break those for which it is right.
    private func linking(_ keyID: KeyID) -> String {
        let name = "AuthKey_\(keyID).p8"
        guard !localCandidates.sharingKeyIDs.contains(where: { $0 != keyID }) else {
            return """
                other profiles have another Key ID, so give this one a key of its own: private_key in \
                the profile, and for the units LoadCredential=\(name):/etc/siwa/\(name) (page server)
                """
        }
        return """
            let both be the key of key_id: private_key in the profile, and for the units \
            ln -sf \(name) /etc/siwa/apple.p8
            """
    }

    /// Another key in the second place of the key.
    private var elsewhere: Finding? {
        guard let other = localCandidates.otherPlace else { return nil }
        let keyID = client.signingKey.id
        if let publicKey = other.publicKey {
            guard !publicKey.isSame(as: client.signingKey.publicKey) else { return nil }
        } else {
            // Without the other file, its name says whether it is the same.
            guard let named = other.keyID, named != keyID, named != key.keyIDInName else {
                return nil
            }
        }
        let name = other.keyID.map { ", key of \($0)" } ?? ""
        return Finding(
            .otherKeyFile, .error, .likely,
            seen: """
                two different keys: \(key.place) is in use as Key ID \(keyID), and \(other.path) \
                (\(other.origin)\(name)) is another key
                """,
            advice: linking(keyID))
    }

    private func isInUse(_ file: KeyFile) -> Bool {
        file.privateKey.publicKey.isSame(as: client.signingKey.publicKey)
    }

    /// Findings from other profiles that have different settings for the same key or client.
    package var profiles: [Finding] {
        localCandidates.otherProfiles.compactMap { profile in
            if profile.keyID == client.signingKey.id, let team = profile.teamID,
                !isTheTeam(team)
            {
                return disagreement(
                    "profile '\(profile.name)' has key \(client.signingKey.id) under team \(team), "
                        + "this one under \(client.teamID)", "a key belongs to one team")
            }
            guard profile.clientID == client.clientID else { return nil }
            guard let team = profile.teamID, !isTheTeam(team) else { return nil }
            let seen = """
                profile '\(profile.name)' has \(client.clientID) under team \(team), this one under \
                \(client.teamID)
                """
            // A profile with its own key is correct: both teams of a transfer have one.
            guard let keyID = profile.keyID, keyID != client.signingKey.id else {
                return disagreement(seen, "a client belongs to one team")
            }
            return Finding(
                .profilesDisagree, .note, .possible, seen: seen,
                advice: "correct while the app is being transferred; otherwise one of them is wrong"
            )
        }
    }

    /// A bundle id in place of a Services ID: codes from the web have a redirect_uri, and a profile
    /// with a redirect URI names their client.
    private var servicesID: [Finding] {
        let web = localCandidates.otherProfiles.first {
            $0.hasRedirectURI && $0.clientID != nil && $0.clientID != client.clientID
        }
        guard let web, let servicesID = web.clientID else { return [] }
        return [
            Finding(
                .wrongClient, .error, .likely,
                seen: "a redirect_uri is for codes from the web, and client_id is "
                    + "\(client.clientID)",
                advice:
                    "such codes belong to the Services ID: profile '\(web.name)' has \(servicesID)")
        ]
    }

    /// Ignores case, because lower case is another finding.
    private func isTheTeam(_ team: TeamID) -> Bool {
        team.rawValue.uppercased() == client.teamID.rawValue.uppercased()
    }

    private func disagreement(_ seen: String, _ rule: String) -> Finding {
        Finding(
            .profilesDisagree, .error, .likely, seen: seen,
            advice:
                "\(rule): check which one in Apple's portal; 'siwa config show' shows where it is set"
        )
    }
}

extension RequestClient {
    /// Why Apple may refuse it, as far as visible on this machine.
    package func findings(
        _ localCandidates: LocalCandidates, at now: NumericDate, isWeb: Bool
    ) -> [Finding] {
        switch self {
        case .signing(let loaded):
            ClientFindings(loaded, localCandidates).all(at: now, isWeb: isWeb)
        case .given(let given, _):
            ClientSecretFindings(
                in: given.secret.text, expecting: ExpectedClient(clientID: clientID), at: now
            ).all.filter { $0.severity != .note }
        }
    }
}

extension Finding {
    /// On one line.
    var hint: String { "\(seen): \(advice)" }
}
