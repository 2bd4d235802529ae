internal import SIWAApplication
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

extension ServerContext {
    /// What this server knows and the database does not.
    func facts() -> ServerFacts {
        var facts = ServerFacts()
        metrics.describe(&facts)
        (facts.configuration, facts.vault) = (configurationFile.map(words.shown), vaultPlace)
        facts.configurationFingerprint = configurationFingerprint.current
        facts.profiles = clients.current.all.map(fact)
        (facts.databaseFault, facts.freeSpace) = (heartbeat.fault, heartbeat.freeSpace)
        facts.clockSkew = clock.skew.map { Int($0.components.seconds) }
        facts.keySetAge = keys.age.map { Int($0.components.seconds) }
        facts.isKeySetFixed = keys.isFixed
        facts.vaultKeyFault = heartbeat.keyFileFault.map(words.shown)
        facts.databaseBusyAt = heartbeat.busyAt
        facts.refusedCall = heartbeat.refusal
        facts.unreadableRecordAt = heartbeat.unreadableRecordAt
        facts.limitFault = limitFault.current
        facts.startFaults = startFaults.current.map(words.shown)
        facts.changedFiles = changedFiles.current.map(words.shown)
        facts.reloadFaults = reloadFaults.current.map(words.shown)
        facts.listeners = addresses.current
        facts.listenerFaults = listenerFaults.current.map(words.shown)
        facts.expiries = (certificates.current + clients.current.expiries(at: clocks.now()))
            .map { $0.shown(in: words) }
        facts.unsavedTokens = journal.writes.unsavedTokens
        facts.validation = validationWorker?.facts
        facts.missingProfiles = revocationWorker.missingProfiles.current(clients.current)
            .map(\.rawValue)
        return facts
    }

    private func fact(about client: ProfileClient) -> ServerFacts.Profile {
        var profile = ServerFacts.Profile(
            name: client.name, clientID: client.clientID.rawValue,
            teamID: client.teamID.rawValue, keyID: client.signing?.signingKey.id.rawValue,
            secretExpiresAt: nil, fault: nil, isRefused: metrics.isRefused(client.name))
        profile.isSignedElsewhere = client.isSignedElsewhere
        profile.keyFingerprint = client.signing?.signingKey.publicKey.fingerprint
        profile.keyFault = keyFaults.current[client.name].map(words.shown)
        profile.isTried = metrics.isTried(client.name)
        if client.isSignedElsewhere {
            profile.signerFault = client.secrets.failure.map { words.shown($0.description) }
        }
        do throws(ClientSecretError) {
            profile.secretExpiresAt = try client.secrets.expiry(at: clocks.now())
        } catch {
            profile.fault = words.shown(Diagnosis(error).message)
        }
        return profile
    }

    /// The status of all servers. Of this one, it is what it knows now, even if the database is
    /// unavailable, which is a problem at once.
    func status() async -> ServerStatus {
        var (survey, fault): (ServerSurvey, StoreError?) = (ServerSurvey(), nil)
        do throws(StoreError) {
            survey = try await monitoringAccess.run { store throws(StoreError) in
                try store.survey()
            }
            // At most a few seconds old, and the vault's tokens are counted.
            survey.counts = try? await counts.current()
        } catch {
            fault = error
        }
        var facts = facts()
        // What is damaged may serve others, as the heartbeat tells.
        if let fault, fault.kind == .damaged, facts.databaseFault == nil {
            facts.refusedCall = .init(at: clocks.now(), reason: fault.message)
        } else {
            facts.databaseFault = facts.databaseFault ?? fault?.message
        }
        let own = heartbeat.record(facts, at: clocks.now())
        survey.servers.removeAll { $0.server.id == own.server.id }
        survey.servers.append(own)
        survey.servers.sort { ($0.server.host, $0.server.id) < ($1.server.host, $1.server.id) }
        return ServerStatus(survey, at: clocks.now(), words)
    }
}

extension ProfileClients {
    /// The client_secrets that another machine mints, unless they have expired: then there is none.
    func expiries(at now: NumericDate) -> [ServerFacts.Expiry] {
        all.compactMap { client in
            guard let lifetime = client.givenLifetime,
                let expiry = try? client.secrets.expiry(at: now), expiry > now
            else { return nil }
            let name = client.name.isEmpty ? "" : " of profile \(client.name)"
            return ServerFacts.Expiry("The client_secret\(name)", at: expiry, lifetime: lifetime)
        }
    }
}

extension ServerFacts.Expiry {
    fileprivate func shown(in words: ServiceWords) -> Self {
        var copy = self
        copy.subject = words.shown(subject)
        return copy
    }
}
