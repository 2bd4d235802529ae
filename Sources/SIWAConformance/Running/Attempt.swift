internal import SIWAJOSE
internal import SIWALifecycle

/// A user of this run.
struct TestUser: Sendable {
    let name: String
    let subject: String
    let email: String

    /// What Apple's field `user` says at the first sign-in.
    var introduction: JSON {
        ["name": ["firstName": "Con", "lastName": "Form"], "email": .string(email)]
    }
}

/// A flow by which a person signs in.
enum Flow: String, Sendable {
    case native, web
}

/// Which identity token a backend believes.
enum Channel: String, Sendable {
    case request, exchange, both
}

/// What one sign-in changes of a good one.
struct Deviation: Sendable {
    /// Makes the identity token.
    var token: BadToken?
    /// Members to add to the body.
    var extra: [JSON.Member] = []
    /// Whether they are added beside the credential, where that is deep in the body.
    var isDeep = false
    /// Values of another user for templates.
    var foreign: [String: JSON] = [:]
    /// Templates whose members are left out.
    var omitted: Set<String> = []
    /// Where the token is put, if that is not where the backend was found to look.
    var channel: Channel?
    /// The user of the identity token in the request, where it is not the code's.
    var tokenUser: TestUser?
    /// Whether that token has the hash of the code.
    var hasHashOfCode = false
    /// Changes the parameters of the callback on the web.
    var callback: (@Sendable ([(String, String)]) -> [(String, String)])?
    /// Whether the callback comes as a link, where it is due as a form.
    var isLink = false
    /// What becomes of the nonce.
    var nonce = NonceChange.none
    /// Which browser brings the callback.
    var browser = CallbackBrowser.own
    /// An earlier sign-in, sent once more.
    var repeated: Credentials?
}

/// What a sign-in does to its nonce.
enum NonceChange: Sendable {
    case none
    /// The request has the hash, like the token.
    case hashed
    /// The request has this in its place.
    case sent(JSON)
    /// The token has the one that the server gave to another sign-in.
    case ofAnother
    /// The step that asks the server for one is left out; the token has an invented one, or none.
    case notAsked(isInToken: Bool)
}

/// The browser that brings a callback.
enum CallbackBrowser: Sendable {
    case own
    /// One that began a sign-in of its own.
    case another
    /// One that began none. Who forges such a callback asks Apple without a nonce and a
    /// challenge.
    case fresh
}

/// What Apple gives for one sign-in.
struct Credentials: Sendable {
    let code: String
    let idToken: String
    let nonce: String?
}

/// The answer of the backend to one sign-in.
struct Attempt: Sendable {
    enum Verdict: Sendable, Equatable {
        case signedIn(account: String?)
        case refused
        case slow
        case cut
        /// 429, also after the wait that it asked for.
        case limited
        /// Nothing listens any more.
        case gone
    }

    let verdict: Verdict
    let status: Int?
    /// How long a 429 asks to wait.
    var retryAfter = Duration.seconds(1)
    var credentials: Credentials?
    var browser: Browser
    var values = Values()
    var body: [UInt8] = []

    /// How long an answer with 429 asks to wait; 30 seconds at most.
    static func wait(askedBy response: HTTPResponse?) -> Duration {
        let seconds = response?.fields["Retry-After"].flatMap { Int($0) } ?? 1
        return .seconds(min(max(seconds, 1), 30))
    }

    var isSignedIn: Bool { if case .signedIn = verdict { true } else { false } }
    var account: String? { if case .signedIn(let account) = verdict { account } else { nil } }

    /// What happened, for people.
    var outcome: String {
        switch verdict {
        case .signedIn(let account?): "SIGNED IN as account \(account.clipped(to: 60))"
        case .signedIn(nil): "SIGNED IN"
        case .refused: status.map { "refused, \($0)" } ?? "refused"
        case .slow: "no answer in time"
        case .cut: "the connection was closed without an answer"
        case .limited: "429, also after waiting"
        case .gone: "cannot connect"
        }
    }
}
