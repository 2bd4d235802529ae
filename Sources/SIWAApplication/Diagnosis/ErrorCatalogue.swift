// The error catalogue: `siwa help errors`, siwa-errors(7) and docs/errors.md are generated from it.
extension ErrorCode {
    /// The catalogue.
    package static let groups = [
        appleRefused, unreachable, settings, tokens, batches,
        storage, server,
    ]

    private static let appleRefused = Group(
        "Apple refused",
        [
            Entry(
                .invalidClient,
                """
                Apple refused the client or its client_secret (exit code 4). Apple gives no \
                reason: the key, the Key ID, the Team ID, the client id or this machine's clock \
                can be wrong, the key can have been revoked, or Sign in with Apple can be \
                switched off for the App ID.
                """,
                """
                Run 'siwa doctor --online': it asks Apple, and tries the other keys and ids of \
                this machine. docs/invalid-client.md lists every known cause, and the runbook \
                apple-refuses-the-client.md says what to do while users wait.
                """, more: true),
            Entry(
                .unauthorizedClient,
                """
                Apple refused the client for this kind of request (exit code 4): the client id \
                may not use it.
                """,
                """
                Use the App ID for codes that come from an app, and the Services ID for codes \
                from the web; check in Apple's developer portal that Sign in with Apple is \
                enabled for it.
                """, more: true),
            Entry(
                .invalidGrant,
                """
                Apple refused the code or token (exit code 5): it was used, has expired, was \
                revoked, belongs to another client, or a web sign-in had another redirect URI. A \
                code lives five minutes and works once.
                """,
                """
                For a code: ask the user to sign in again. For a refresh token: it is dead, and \
                the user must sign in again; no retry helps. If every token is refused at once, \
                the client is the wrong one: check --client-id and --profile before anything is \
                marked as dead.
                """, more: true),
            Entry(
                .invalidRequest,
                """
                A request was malformed, or Apple refused it otherwise (exit code 6): a \
                parameter is missing, repeated or malformed; Apple also answers like this after \
                the user stopped using Apple's sign-in for the app. In siwa-server's API, the \
                message names the member of the request that must be fixed.
                """,
                """
                Read the hints: they name the likeliest cause for this request. -v shows the \
                names of the parameters that were sent.
                """, more: true),
            Entry(
                .invalidScope,
                "Apple does not know the scope (exit code 6).",
                """
                Only an app transfer uses a scope, user.migration: update siwa if it is refused.
                """, more: true),
            Entry(
                .unsupportedGrantType,
                """
                Apple does not know the grant (exit code 6). siwa sends authorization_code, \
                refresh_token and client_credentials.
                """,
                """
                Check base_url: something that is not Apple may have answered. Otherwise report \
                it.
                """, more: true),
        ])

    private static let unreachable = Group(
        "Apple or the network cannot be reached",
        [
            Entry(
                .outage,
                """
                Apple answered with a status of 500 or more, or with a page. Nothing is known to \
                be wrong on this machine.
                """,
                """
                Try later; developer.apple.com/system-status shows outages. siwa-server keeps \
                trying revocations by itself, and a batch continues with --resume.
                """, more: true),
            Entry(
                .throttled,
                "Apple answered 429, too many requests.",
                """
                Wait as long as the message says; refresh each user's token at most once a day, \
                and give a batch a lower --rate.
                """, more: true),
            Entry(
                .unreadableResponse,
                "The answer is not one of Apple's: a redirect, an empty body, or a page.",
                "Check for a proxy or a captive portal, and check base_url."),
            Entry(
                .nameLookup,
                "The name of Apple's server cannot be resolved.",
                "Check the network and its DNS, then try again."),
            Entry(
                .connect,
                "No connection to the server could be made.",
                "Check the network and its firewall, or whether the emulator runs."),
            Entry(
                .tls,
                "The TLS handshake failed.",
                """
                Check that the port of base_url speaks https, and look for a proxy without TLS \
                1.2.
                """),
            Entry(
                .certificate,
                "The server's certificate is not trusted.",
                """
                Add the authority of a proxy that inspects TLS, or the emulator's ca.pem, with \
                --ca-file; check this machine's clock.
                """),
            Entry(
                .proxy,
                "The proxy cannot be used.",
                "Check HTTPS_PROXY and NO_PROXY."),
            Entry(
                .timeout,
                "No complete answer came in time.",
                "Try again, with a longer --timeout if the network is slow."),
            Entry(
                .cut,
                "The connection was closed before the response was complete.",
                "Try again; if this continues, check for a proxy."),
            Entry(
                .tooLarge,
                "The response is larger than any of Apple's.",
                "Check for a proxy or a captive portal, and check base_url."),
            Entry(
                .malformed,
                "The response is not HTTP.",
                "Check for a proxy, and check the port of base_url."),
            Entry(
                .cancelled,
                "The request was cancelled before an answer came.",
                "Run it again."),
            Entry(
                .authorities,
                "The certificate authorities cannot be read.",
                """
                Check --ca-file, SSL_CERT_FILE, SSL_CERT_DIR and CURL_CA_BUNDLE: each names \
                certificates in PEM.
                """),
            Entry(
                .resources,
                "The system has too few resources for a request.",
                "Raise the limit, or wait until other processes have ended."),
            Entry(
                .noKeySet,
                "Apple's key set is not on this machine, and no request for it is allowed.",
                "Run 'siwa keys' once while connected to the network."),
            Entry(
                .keysUnavailable,
                """
                A token needs a key of Apple's that is unknown here, and the key set cannot be \
                fetched, or is more than seven days old.
                """,
                """
                Check the network from this machine to appleid.apple.com. siwa-server keeps \
                notifications meanwhile, and verifies them later.
                """, more: true),
            Entry(
                .paused,
                "A request for Apple's keys failed a short time ago, and the next one waits.",
                "'siwa keys --refresh' sends one now."),
            Entry(
                .busy,
                "Another siwa process is still fetching Apple's keys.",
                "Try later; if this continues, look for a siwa process that hangs."),
        ])

    private static let settings = Group(
        "Settings, keys and files",
        [
            Entry(
                .usage,
                "The command line cannot be carried out (exit code 2).",
                """
                Fix the argument that the message names; 'siwa COMMAND --help' shows every flag.
                """),
            Entry(
                .configuration,
                "A setting, or a file that a setting names, cannot be used (exit code 3).",
                """
                Fix it where the message says; 'siwa config show' prints every setting and its \
                origin, 'siwa help settings' explains each. If the file belongs to the service, \
                run the command as 'siwa-admin' instead of changing its owner.
                """, more: true),
            Entry(
                .key,
                """
                The private key cannot be used (exit code 3): it is missing, encrypted, not on \
                P-256, or readable by others under --strict.
                """,
                """
                Use the file AuthKey_<Key ID>.p8 as Apple gave it. Apple offers the download \
                once: if it is lost, create a new key in the developer portal, as the runbook \
                new-apple-key.md says.
                """, more: true),
            Entry(
                .clientSecret,
                """
                The given client_secret cannot be used (exit code 3): it has expired, or has a \
                fault that Apple would refuse.
                """,
                "Mint a new one where the private key is: 'siwa secret --lifetime 30d'.", more: true
            ),
            Entry(
                .signerUnavailable,
                "The program or service that signs did not answer; nothing was sent to Apple.",
                "Try again when the signer answers; its own log says what is wrong.", more: true),
            Entry(
                .signerRefused,
                "The program or service that signs refused; nothing was sent to Apple.",
                "Read the signer's log; check its PIN, its key and its permissions.", more: true),
            Entry(
                .signerInvalidSignature,
                """
                What the signer answered is not a signature by public_key; nothing was sent to \
                Apple.
                """,
                "Compare public_key with the signer's key.", more: true),
            Entry(
                .signerUnusable,
                """
                The signer's program or socket is missing, cannot be run, or could be changed by \
                other users.
                """,
                "Fix what the message names, or private_key.", more: true),
            Entry(
                .unavailable,
                """
                A library that is loaded when it is needed is missing, such as libcurl, libpq or \
                SQLite.
                """,
                "Install the package that the message names."),
            Entry(
                .noConfiguration,
                "No configuration file is in use.",
                "'siwa init' writes one."),
            Entry(
                .noProfiles,
                "The configuration has no profiles.",
                "'siwa init' writes a configuration with one."),
            Entry(
                .deployFailed,
                """
                'siwa secret --out' wrote the new secret, but the program of --deploy failed \
                (exit code 8). The old secret may still be in use where it should have been \
                replaced.
                """,
                """
                Fix the program, whose output is above the error. Nothing else has to be done: \
                each later run with --deploy repeats it.
                """, more: true),
            Entry(
                .notDelivered,
                """
                What was done could not be reported (exit code 74): the disk is full, or nobody \
                read standard output. The message says what was done.
                """,
                """
                Look at what was done before repeating the command: a code that was used cannot \
                be used again.
                """, more: true),
            Entry(
                .temporary,
                """
                A file could not be written for now (exit code 75), mostly because the disk is \
                full.
                """,
                "Free space, then run the command again."),
            Entry(
                .interrupted,
                "A signal came before this token was tried.",
                "Run the command again."),
            Entry(
                .stopped,
                "A signal ended the command; the message says what was done before.",
                "Run the command again; a batch continues with --resume."),
            Entry(
                .checksFailed,
                "'siwa doctor' or 'siwa status' found something that does not work.",
                "Do what is printed below the failed checks, or the problems, in this order."),
            Entry(
                .absentMember,
                "The result has no member with the name that --print asked for.",
                "Use a name from the list in the hints."),
            Entry(
                .defect,
                "An error that siwa's authors did not expect (exit code 70).",
                """
                Please report it, with the output of the same command with -v: it contains no \
                secrets.
                """, more: true),
        ])

    private static let tokens = Group(
        "Codes, tokens and revocations",
        [
            Entry(
                .outcomeUnknown,
                """
                A single-use code was sent, and it is unknown whether Apple exchanged it (exit \
                code 7): no answer came, or one that is not Apple's.
                """,
                """
                Do not send the code again: Apple accepts it once. Ask the user to sign in \
                again, and use the new code.
                """, more: true),
            Entry(
                .notStored,
                """
                Apple exchanged the code, but the refresh token could not be stored. The result \
                on standard output has the only copy.
                """,
                """
                Store the printed token with 'siwa vault import' as soon as the vault works, \
                then remove the copy. The code is spent.
                """, more: true),
            Entry(
                .identityTokenNotValid,
                """
                An identity token failed a check: it is not Apple's, not for this client, or \
                expired.
                """,
                "The message names the checks that failed; docs/verification explains each."),
            Entry(
                .notificationNotValid,
                "A notification failed a check: it is not Apple's, or not for this client.",
                """
                The message names the checks that failed. Do not answer such a request with 200.
                """),
            Entry(
                .identityTokenInvalid,
                """
                Apple exchanged the code, but its identity token fails a check, mostly the nonce \
                (status 422). The refresh token is stored under the user of the token, and is \
                not shown.
                """,
                """
                Do not sign the user in. Give the nonce of this sign-in with the request; if \
                that is right, somebody may have injected the code of another sign-in.
                """, more: true),
            Entry(
                .notRevoked,
                "Apple accepted the revocation, but the token still works.",
                """
                It belongs to another client: check --client-id and --profile, and revoke again.
                """, more: true),
            Entry(
                .notConfirmed,
                "The token was revoked, but the request that was to prove it failed.",
                "Run the same command again: it asks for the proof.", more: true),
            Entry(
                .noRefreshToken,
                """
                Apple's answer to the code has no refresh token, so there is nothing to revoke.
                """,
                "Revoke the access token: '--kind access_token', with a new code."),
            Entry(
                .noAccessToken,
                "Apple's answer to the code has no access token, so there is nothing to revoke.",
                "Revoke the refresh token, with a new code."),
            Entry(
                .expired,
                "The token that 'siwa inspect --expires-within' looked at has expired.",
                "Mint or fetch a new one."),
            Entry(
                .expiresSoon,
                """
                The token that 'siwa inspect --expires-within' looked at expires within the \
                given time.
                """,
                "Renew it now."),
            Entry(
                .noExpiry,
                """
                The token has no time of expiry that 'siwa inspect --expires-within' could look \
                at.
                """,
                "Use the option with a JWT, such as a client_secret."),
            Entry(
                .noActiveToken,
                "The vault has no active token of the user.",
                "Ask the user to sign in again; 'siwa vault show USER' shows the states."),
            Entry(
                .noRecord,
                "The vault has no token of this user for this client.",
                """
                Check the user id, --client-id and --profile. If the account is older than the \
                vault, let the user sign in once more, and revoke from the code: 'siwa revoke \
                --code -'.
                """, more: true),
            Entry(
                .noRevocation,
                "No revocation has this id.",
                "'siwa revocations list' shows all revocations."),
            Entry(
                .failed,
                """
                Some tokens of the user were not done; the member 'tokens' of the result lists \
                them.
                """,
                "Run the command again."),
        ])

    private static let batches = Group(
        "Batches and files of records",
        [
            Entry(
                .tooManyRefused,
                """
                The brake stopped a batch (exit code 9): Apple refused more of the last items \
                than --max-refused allows. Recent refusals were neither written nor noted. A \
                wrong client, a wrong profile or an outage at Apple is likelier than so many \
                dead tokens.
                """,
                """
                Check 'siwa doctor --online' and developer.apple.com/system-status before the \
                next run. If the tokens really are dead, set --max-refused higher; 100 switches \
                the brake off.
                """, more: true),
            Entry(
                .unusualTokens,
                """
                The brake stopped a batch before anything was sent (exit code 9): most of the \
                first items do not look like Apple's tokens.
                """,
                """
                Check the input: one token a line, or JSON with a member token. If they are \
                tokens all the same, add --allow-unusual.
                """, more: true),
            Entry(
                .itemsNotDone,
                "Some items of a batch were not done; their result lines have the reasons.",
                """
                Look for a status other than "done"; --resume repeats what failed temporarily.
                """),
            Entry(
                .itemsHeld,
                "Other runs hold all records that this run could have taken.",
                """
                If they work, nothing has to be done; if they died, run this again after the \
                time in the message.
                """),
            Entry(
                .tooLate,
                "The item was not sent: its lease ended, and another run may have it.",
                "Run the batch again."),
            Entry(
                .noItems,
                "The input of a batch has no item.",
                "Check the file, or the command in front of the pipe."),
            Entry(
                .input,
                "The input of a batch could not be read to its end.",
                "Fix the input, then run the same command with --resume."),
            Entry(
                .otherInput,
                """
                --resume was given an output file whose results belong to another input, server \
                or client.
                """,
                "Give the same input as before, or another --output."),
            Entry(
                .invalidHeader,
                "The header of a CSV file does not fit.",
                "Name the columns: --map user_id=COLUMN --map token=COLUMN, and --delimiter."),
            Entry(
                .invalidLine,
                "A line of the input is not an item.",
                "Fix the line with the number in the result."),
            Entry(
                .invalidLines,
                "Some lines of the input were invalid and skipped; the others were imported.",
                "Fix the lines, and import the file again: --rejects FILE lists them."),
            Entry(
                .idsMeet,
                "An app transfer would give several users the same id: nothing was moved.",
                "Decide which user is meant, and remove the other lines."),
            Entry(
                .noUsers,
                "The results of an import have no user with a new id: there is nothing to write.",
                "Use the output of 'siwa migrate import' as the input."),
        ])

    private static let storage = Group(
        "The vault and the inbox",
        [
            Entry(
                .vault,
                """
                The vault cannot be used, or a record in it: the message says which. Exit code \
                75 if the database may work again by itself, else 3.
                """,
                """
                Do what the hint says. 'siwa vault check' examines everything; on a server, run \
                it as 'siwa-admin vault check'. A damaged record or a lost key comes back only \
                from a backup: see the runbook backup-and-restore.
                """, more: true),
            Entry(
                .noEvent,
                "The inbox has no such event.",
                "'siwa inbox list' shows the events that are kept."),
            Entry(
                .unchanged,
                "The event or revocation is in a state in which this command does nothing.",
                "The message names the state; 'inbox show' and 'revocations list' show more."),
            Entry(
                .nowhereToDeliver,
                """
                Events in the state none cannot be delivered: the configuration has no \
                server.deliver.
                """,
                "Set server.deliver, restart the server, then repeat the command."),
        ])

    private static let server = Group(
        "Answers of siwa-server",
        [
            Entry(
                .codeMayBeSpent,
                """
                The code was sent to Apple, and it is unknown whether Apple exchanged it (status \
                409).
                """,
                """
                Ask the user to sign in again, and use the new code; never send the old one \
                again.
                """, more: true),
            Entry(
                .codeAlreadySent,
                """
                The code was sent to Apple before, and its answer is no longer kept, or it was \
                exchanged in order to revoke its tokens (status 409).
                """,
                "Use the answer to the first request, or ask for a new sign-in.", more: true),
            Entry(
                .codeConflict,
                """
                The code was sent before with another client, code_verifier, redirect_uri, nonce \
                or store (status 409). Nothing was sent.
                """,
                "Repeat the first request without changes.", more: true),
            Entry(
                .inProgress,
                "Another request is sending this code, and has not ended (status 503).",
                "Repeat the request: it gets the same answer."),
            Entry(
                .revocationPending,
                """
                The user cannot be erased: a revocation of the user's tokens is pending (status \
                409).
                """,
                "Erase the user after its end; GET /v1/revocations shows its state."),
            Entry(
                .tokenMayWork,
                """
                The user cannot be erased: a token may still work, and could not be revoked \
                later (status 409).
                """,
                "Revoke first; or erase it all the same with even_if_live=true."),
            Entry(
                .clientWithoutProfile,
                """
                A token belongs to a client that is in no profile of the configuration, so it \
                cannot be revoked.
                """,
                """
                Add a profile with this client_id and reload; if the client no longer exists, \
                remove the token: 'siwa vault remove'.
                """, more: true),
            Entry(
                .cursorUnknown,
                """
                The cursor of GET /v1/events belongs to another history (status 410): the \
                database was restored or moved, or events that the caller had not seen were \
                deleted.
                """,
                """
                Go on with the member restart of the answer. Events that the caller knows come \
                again, and deleted ones are missing.
                """, more: true),
            Entry(
                .unauthorized,
                "The call has no token, or an unknown one (status 401).",
                "Create a token: 'siwa-server token add NAME --scope SCOPE'."),
            Entry(
                .forbidden,
                "The token does not have the scope that the call needs (status 403).",
                "Create a token with this scope: 'siwa-server token add NAME --scope SCOPE'."),
            Entry(
                .notFound,
                "The path, user or revocation does not exist (status 404).",
                "Check the path: GET /v1/openapi.json lists all."),
            Entry(
                .methodNotAllowed,
                "The path does not have this method (status 405).",
                "Use a method in the field Allow of the answer."),
            Entry(
                .notAcceptable,
                """
                The call cannot be answered in a media type that the field Accept allows (status \
                406).
                """,
                "Accept application/json."),
            Entry(
                .bodyTooLarge,
                "The body is longer than 64 KiB (status 413).",
                "Send less."),
            Entry(
                .unsupportedMediaType,
                "The body is not application/json without a content coding (status 415).",
                "Set Content-Type: application/json."),
            Entry(
                .headerTooLarge,
                "The header fields are longer than 16 KiB (status 431).",
                "Send fewer or shorter fields, such as cookies."),
            Entry(
                .noToken,
                "No API token has this name.",
                "'siwa-server token list' shows all tokens."),
            Entry(
                .tokenExists,
                "An API token with this name exists already.",
                "Remove it first: 'siwa-server token remove NAME'."),
        ])
}
