internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAVaultRecords

/// `siwa exchange`: exchanges an authorization code for tokens.
struct ExchangeCommand: Command {
    static let name = "exchange"
    static let abstract = "Exchange an authorization code for tokens."
    static let discussion = """
        Prints Apple's response with expires_at, the expiry of the access token, the checks of the \
        identity token, and, if it is valid, user_id. A code works once, so it is sent once; it is \
        sent again only if the request certainly did not leave this machine.

        --store puts the refresh token into the vault, under the user of the identity token, before \
        anything is printed. If that fails, the whole result is printed, even with --print, and the \
        exit code is 1.

        If Apple's keys cannot be fetched, the check of the signature is skipped with a warning: \
        the identity token came from Apple over verified TLS. The other checks decide.

        The times of the identity token pass if they pass by this machine's clock or by the Date of \
        Apple's response. If the clocks differ by more than 5 seconds, a warning says by how much.

        If the response is lost, the exit code is 7, and the code may have been used. If the \
        identity token is not valid, the tokens are still printed, and the exit code is 1.

        Once the code may have been sent, a signal such as SIGINT or SIGTERM leaves Apple 10 s to \
        respond and the vault 2 s to store. Then the whole result is printed, even with --print.
        """
    static let examples = [
        Example(
            "siwa exchange --code - --print refresh_token < code.txt",
            "Print the refresh token; the code does not appear on the command line."),
        Example(
            "siwa exchange --code - --store --print user_id < code.txt",
            "Store the refresh token in the vault."),
    ]
    static let parameters: [Parameter<Self>] =
        [
            .option("code", \.$code, value: "CODE", help: "The authorization code."),
            .option(
                "redirect-uri", \.redirectURI, value: "URI",
                help: "The redirect URI of the sign-in; required for a code from the web."),
            .option(
                "code-verifier", \.codeVerifier, value: "VERIFIER",
                help: "The verifier of the sign-in's code_challenge (PKCE)."),
            .option(
                "nonce", \.nonce, value: "NONCE",
                help: "Check that the identity token has this nonce, itself or hashed."),
            .option(
                "audience", \.audiences, value: "ID",
                help: "Accept identity tokens for this client id."),
            .flag("store", \.isStoring, help: "Store the refresh token in the vault."),
            VaultArgument.option(\.vault),
            .flag(
                "dry-run", \.isDryRun, help: "Print the request with secrets masked; send nothing."),
        ] + GlobalOptions.requestParameters(at: \.global)

    var global = GlobalOptions()
    @Required var code: SecretArgument
    var redirectURI: String?
    var codeVerifier: SecretArgument?
    var nonce: SecretArgument?
    var audiences: [String] = []
    var isStoring = false
    var vault: VaultArgument?
    var isDryRun = false

    func run(in world: World) async throws {
        try checkCombination()
        if !isDryRun { try global.output.checkPrinted(among: members) }
        let session = try Session(
            global, redirectURI: redirectURI, audiences: audiences, vault: vault,
            in: world)
        let code = try session.opaqueToken(code, "--code")
        let verifier = try codeVerifier.map { try session.codeVerifier($0) }
        let nonce = try nonce.map { try session.secret($0, "--nonce") }
        let requests = try Requests(session, codeVerifier: verifier)
        guard !isDryRun else {
            return try await requests.dryRun([requests.exchange(of: AuthorizationCode(code))])
        }
        try requests.checkOutput()
        // Before the code is used: opening the vault may fail.
        let vault = isStoring ? try session.changeableVault() : nil
        let verification = ExchangeVerification(
            audiences: try session.settings.audiences(), nonce: nonce,
            // siwa sends requests over TLS with a verified certificate, or to loopback.
            isServerAuthenticated: true)
        let answer = try await requests.perform(as: .code) { tokens throws(TokenFailure) in
            try await tokens.exchange(
                AuthorizationCode(code), redirectURI: requests.redirectURI, codeVerifier: verifier)
        }
        try await report(answer, requests, verification, storingIn: vault)
    }

    /// Checked before the code is used: after a misspelled `--print` it could not be used again.
    private var members: [String] {
        TokenResponse.memberNames + TokenResponse.addedMemberNames + ["user_id", "checks"]
            + (isStoring ? ["stored"] : [])
    }

    private func checkCombination() throws(UsageError.Problem) {
        guard vault == nil || isStoring else {
            throw UsageError.Problem.misuse(
                "--vault needs --store", hint: "add --store to keep the refresh token")
        }
    }

    private func report(
        _ answer: TokenResponse, _ requests: Requests, _ rule: ExchangeVerification,
        storingIn vault: Vault?
    ) async throws {
        let ending = requests.session.world.ending
        let now = requests.session.world.clocks.now()
        ending.begin(.keys)
        let verification = await requests.verify(answer, by: rule, at: now)
        var members = answer.exchangeMembers(verification, at: now)
        let failures = verification?.failures ?? []
        let stored = vault.map { vault in
            ending.begin(.storing)
            return Result {
                try store(answer, of: verification, in: vault, requests)
            }
        }
        let isStored = stored.map { (try? $0.get()) != nil }
        if let isStored { members.append(.init("stored", .boolean(isStored))) }
        var absent: AbsentMember?
        do {
            try requests.reportOnce(
                Report(.object(members), of: .exchange(isStored: isStored == true)),
                isWhole: isStored == false, code: isStored == true ? .stored : .exchanged)
        } catch let error as AbsentMember {
            absent = error
        }
        // The failed check explains why a member is missing.
        guard failures.isEmpty else {
            throw VerifiedSubject.identityToken.refusal(
                failures,
                hints: ["the printed tokens work; do not trust the user id in the identity token"]
                    + (vault == nil ? [] : [answer.remedyIfNotStored]),
                requestID: answer.requestID)
        }
        try stored?.get()
        if let absent { throw absent }
    }

    /// Stores the refresh token for the user of the identity token.
    private func store(
        _ answer: TokenResponse, of verification: IdentityTokenVerification?, in vault: Vault,
        _ requests: Requests
    ) throws {
        guard let token = answer.refreshToken else {
            throw answer.notStored("Apple's answer has no refresh token")
        }
        guard let userID = verification?.claims?.userID else {
            throw answer.notStored("no identity token names its user")
        }
        let user: VaultUser
        do {
            user = try VaultUser(requests.client.clientID, validating: userID.rawValue)
        } catch {
            throw answer.notStored("the user \(error.fault)")
        }
        var vault = vault
        do {
            let now = requests.session.world.clocks.now()
            try vault.renewing(requests.session.vaultKeys) { vault throws(StoreError) in
                try vault.store(token, for: user, signedInAt: verification?.signedInAt, at: now)
            }
        } catch {
            throw answer.notStored(Diagnosis(error).message)
        }
    }
}

extension TokenResponse {
    /// The refresh token could not be stored; the result was printed.
    ///
    /// Never temporary, even if the vault's fault is: running the command again would need a
    /// second use of the code.
    fileprivate func notStored(_ reason: String) -> Diagnosis {
        .negative(
            .notStored, "the refresh token was not stored: \(reason)", hints: [remedyIfNotStored],
            requestID: requestID)
    }

    /// What to do with the printed tokens if the refresh token could not be stored.
    fileprivate var remedyIfNotStored: String {
        guard let refreshToken, (try? validateOpaqueToken(refreshToken.text)) != nil else {
            return "no refresh token can be kept: ask the user to sign in again"
        }
        return "keep the refresh token that was printed: siwa vault import"
    }
}

extension Deed {
    /// A code was exchanged.
    ///
    /// - Parameter isStored: whether the vault has the refresh token.
    static func exchange(isStored: Bool) -> Deed {
        isStored
            ? Deed(
                "the code was exchanged, and its refresh token is stored in the vault",
                hint: "read it with 'siwa refresh --user' or 'siwa vault export --reveal'")
            : Deed(
                "the code was exchanged",
                hint: "its tokens are lost: fix standard output, and ask the user to sign in again")
    }
}
