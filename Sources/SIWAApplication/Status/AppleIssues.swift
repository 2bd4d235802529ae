internal import SIWAJOSE
internal import SIWALifecycle
package import SIWAServerRecords

// Whether Apple answers and accepts the clients, the keys and secrets that it is asked with, and its
// own keys.
extension ServerStatus {
    func refusals(_ facts: ServerFacts) -> [Issue] {
        // Apple refuses what a wrong clock has dated.
        let skew = Self.wrongSkew(facts)
        let clock = skew.map {
            "This machine's clock is \($0.clockDifference), and Apple refuses secrets whose times "
                + "are wrong: set it first. "
        }
        return facts.profiles.filter(\.isRefused).map { profile in
            let transfer = facts.profiles.first {
                $0.clientID == profile.clientID && $0.teamID != profile.teamID
            }.map {
                "Profile \($0.name) has it under team \($0.teamID): if the app was transferred to that "
                    + "team, set default_profile to \($0.name), and restart. "
            }
            return Issue(
                "Apple refuses the client \(profile.clientID)"
                    + (profile.name.isEmpty ? "." : " of profile \(profile.name)."),
                (clock ?? "") + (transfer ?? "")
                    + "Sign-ins and revocations fail; notifications are still received. Run siwa doctor "
                    + "--online\(profile.name.isEmpty ? "" : " --profile \(profile.name)").",
                page: "runbooks/apple-refuses-the-client.html", in: .lastRefusal)
        }
    }

    func clock(_ facts: ServerFacts) -> [Issue] {
        guard let skew = Self.wrongSkew(facts) else { return [] }
        return [
            Issue(
                "This machine's clock is \(skew.clockDifference).",
                "Set it, or keep it right: \(clockSynchronization).",
                page: "runbooks/notifications.html#the-clock-is-wrong", in: .clock)
        ]
    }

    private static func wrongSkew(_ facts: ServerFacts) -> Duration? {
        facts.clockSkew.map { Duration.seconds($0) }.flatMap { $0.isWrongClock ? $0 : nil }
    }

    /// A key under two Key IDs: Apple knows it by one of them.
    func sharedKeys(_ facts: ServerFacts) -> [Issue] {
        let uses = facts.profiles.compactMap { profile in
            profile.keyFingerprint.flatMap { fingerprint in
                profile.keyID.map { KeyUse(profile.name, fingerprint, keyID: $0) }
            }
        }
        return KeyUse.faults(among: uses).map {
            Issue(
                $0.capitalized + ".",
                KeyUse.remedy.capitalized + ", and run siwa-server check.",
                page: "server.html#a-profile-with-a-key-of-its-own", in: .lastRefusal)
        }
    }

    /// A key in its file that is not the one in use.
    func keyFiles(_ facts: ServerFacts) -> [Issue] {
        let vault = facts.vaultKeyFault.map {
            Issue(
                "The vault cannot be opened with the keys that are in their file now: \($0).",
                "Run siwa-server check: it says what to do. A file that is lost is restored from its "
                    + "backup. The keys that were read before are in use, and a restart would fail.",
                page: "vault.html#the-keys", in: .servers)
        }
        return [vault].compactMap(\.self)
            + facts.profiles.compactMap { profile in
                profile.keyFault.map {
                    Issue(
                        (profile.name.isEmpty ? "" : "Profile \(profile.name): ") + "\($0).",
                        "If the file is right, load it: systemctl "
                            + (profile.hasCopiedKey ? "restart" : "reload")
                            + " siwa-server; else restore it. Until then, the key that was read "
                            + "before is in use.",
                        page: "runbooks/new-apple-key.html", in: .secret(profile: profile.name))
                }
            }
    }

    func signers(_ facts: ServerFacts) -> [Issue] {
        facts.profiles.compactMap { profile in
            guard let fault = profile.signerFault else { return nil }
            let name = profile.name.isEmpty ? "" : " of profile \(profile.name)"
            return Issue(
                "The signer\(name) does not sign: \(fault).",
                "Fix it, then reload: systemctl reload siwa-server. "
                    + (profile.fault == nil
                        ? "The old client_secret serves until it expires."
                        : "There is no client_secret until then: what needs one fails."),
                page: "signers.html", in: .signer(profile: profile.name))
        }
    }

    func secrets(_ facts: ServerFacts) -> [Issue] {
        // Of a signer that does not sign, that is said already.
        facts.profiles.filter { $0.fault == nil || $0.signerFault == nil }.compactMap { profile in
            let name = profile.name.isEmpty ? "" : " for profile \(profile.name)"
            let fault =
                profile.fault.map { "There is no client_secret\(name): \($0)." }
                ?? profile.secretExpiresAt.flatMap {
                    profile.hasSecret(at: at)
                        ? nil : "The client_secret\(name) expired at \($0.rfc3339)."
                }
            return fault.map {
                Issue(
                    $0,
                    "Run siwa doctor with this configuration. A file that another machine renews is "
                        + "loaded by systemctl reload siwa-server.",
                    page: "runbooks/apple-refuses-the-client.html",
                    in: .secret(profile: profile.name))
            }
        }
    }

    func outage(_ facts: ServerFacts) -> [Issue] {
        // What stops sign-ins is said first.
        guard let answer = outages(facts).last else { return [] }
        // An answer shows that the network works, and known keys that Apple was there.
        let isThere = facts.keySetAge != nil || answer.hasAnswer
        let effect =
            switch answer.endpoint {
            case "keys" where isThere:
                "Only Apple's keys were asked for: sign-ins go on, and notifications that need a key which "
                    + "is not known yet are kept."
            case "revoke": "Revocations are kept and tried again; sign-ins go on."
            default:
                "Revocations and notifications are kept and tried again; sign-ins are answered with 503, "
                    + "or with 409 if the code may be spent."
            }
        let cause =
            answer.hasNoTrust
            ? "The certificate of the server that answered is not trusted. Run siwa doctor --online: the "
                + "cause is ca_file, base_url, a proxy, or the authorities of this machine. "
            : answer.isUnreadable
                ? "What answered is not Apple: look for a proxy or a firewall between this machine and "
                    + "appleid.apple.com, and run siwa doctor --online. "
                : "Look at developer.apple.com/system-status, and check the network to "
                    + "appleid.apple.com. "
        return [
            Issue(
                "Apple did not answer the last request to /auth/\(answer.endpoint) "
                    + "(\(answer.at.rfc3339)): \(answer.outcome).", cause + effect,
                page: "runbooks/apple-is-down.html", in: .outage)
        ]
    }

    /// The outages that concern anybody, in the order keys, revoke, token: without a revocation that
    /// waits, nobody asks whether the endpoint works again.
    package func outages(_ facts: ServerFacts) -> [ServerFacts.Answer] {
        let waits = survey.counts.map { $0.revocations[.pending] ?? 0 > 0 } ?? true
        return facts.outages.filter { $0.endpoint != "revoke" || waits }
    }

    /// - Parameter startedAt: when the server started: its first facts are older than its first fetch.
    func keySet(_ facts: ServerFacts, startedAt: NumericDate) -> [Issue] {
        let page = "runbooks/notifications.html#apples-keys-cannot-be-fetched"
        guard !facts.isKeySetFixed else {
            return [
                Issue(
                    "Apple's keys come from a file.",
                    "Remove server.jwks_file, unless this is a test.", page: page, in: .keySet)
            ]
        }
        let age = facts.keySetAge.map { Duration.seconds($0) }
        guard age.map({ $0 > Self.oldKeySet }) ?? (at - startedAt > Self.firstFetch) else {
            return []
        }
        return [
            Issue(
                age.map { "Apple's keys are \($0.words(units: 1)) old." }
                    ?? "Apple's keys have not been fetched.",
                "Check the network to appleid.apple.com. Notifications are kept until then.",
                page: page, in: .keySet)
        ]
    }

    private static let firstFetch = Duration.seconds(30)
    private static let oldKeySet = Duration.seconds(2 * 3600)
}
