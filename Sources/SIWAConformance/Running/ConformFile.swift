internal import SIWAEmulator
package import SIWAJOSE
internal import SIWALifecycle

/// The description of a backend: the FILE of `siwa-emulator conform`.
package struct ConformFile: Sendable {
    /// The origin of the backend.
    package let app: String
    /// Certificates to trust besides the system's.
    package let authorityFile: String?
    /// The client ids whose tokens every flow accepts; each its own, unless given.
    package let audiences: [String]
    /// Header fields of every request.
    package let headers: [JSON.Member]
    /// The shortest time between two requests.
    package let interval: Duration
    package let signIn: NativeSignIn?
    package let web: WebSignIn?
    package let whoami: Whoami?
    /// Where notifications are posted.
    package let notifications: Step?
    package let deletion: Deletion?
    /// How an account with a password is made; it ends signed in to it.
    package let passwordAccount: [Step]?

    /// How an app signs in.
    package struct NativeSignIn: Sendable {
        package let clientID: String
        package let nonce: NonceRule?
        package let steps: [Step]
        package let signedIn: SignedInRule
    }

    /// How a browser signs in.
    package struct WebSignIn: Sendable {
        package let clientID: String
        package let redirectURI: String
        package let start: [Step]
        package let finish: [Step]
        package let signedIn: SignedInRule
    }

    /// The request that names the account of a session.
    package struct Whoami: Sendable {
        package let step: Step
        /// A JSON pointer to the account in the answer.
        package let account: String
    }

    /// How an account is deleted.
    package struct Deletion: Sendable {
        package let steps: [Step]
        package let revokesWithin: Duration
        /// How long a revocation is tried again; nil if it need not be.
        package let retriesWithin: Duration?
    }

    /// How a nonce is made.
    package struct NonceRule: Sendable {
        package enum Source: String, JSONConvertible, CaseIterable { case client, server }
        package enum Form: String, JSONConvertible, CaseIterable {
            case raw
            case sha256Hex = "sha256-hex"
            case sha256Base64URL = "sha256-base64url"
        }

        package let source: Source
        package let form: Form
    }
}

extension ConformFile {
    private static let members = [
        "app", "ca_file", "audiences", "headers", "rate", "sign_in", "whoami", "web",
        "password_account", "notifications", "delete",
    ]

    /// Reads the file.
    ///
    /// - Throws: ``ShapeError``, which names the member and its fault.
    package init(json: JSON) throws(ShapeError) {
        let reader = try JSONObjectReader(json.withoutNulls, knowing: Self.members)
        app = try Self.origin(reader.required("app"))
        authorityFile = try reader.optional("ca_file")
        headers = try reader.json["headers"] == nil ? [] : reader.members("headers").map(\.member)
        interval = try Self.interval(reader.optional("rate") ?? "5/s")
        signIn = try reader.part("sign_in", NativeSignIn.init)
        web = try reader.part("web", WebSignIn.init)
        whoami = try reader.part("whoami", Whoami.init)
        notifications = try reader.part("notifications") { json, place throws(ShapeError) in
            try Step(json, at: place)
        }
        deletion = try reader.part("delete", Deletion.init)
        passwordAccount =
            try reader.json["password_account"] == nil ? nil : reader.steps("password_account")
        audiences = try reader.optional("audiences") ?? []
        try checkTemplates()
        guard signIn != nil || web != nil else {
            throw ShapeError(
                "", "'sign_in' or 'web' is needed: without one, nothing can be checked")
        }
        guard whoami != nil || (signIn?.signedIn ?? web?.signedIn)?.isEmpty == false else {
            throw ShapeError("", "'signed_in' or 'whoami' must say what a sign-in looks like")
        }
    }

    private static func origin(_ text: String) throws(ShapeError) -> String {
        let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard let host = WebAddress(trimmed)?.host, isPrivate(host) else {
            throw ShapeError(
                "", "'app' must be an http or https URL of a loopback or private address")
        }
        return trimmed
    }

    /// Whether a host is `localhost`, or a loopback or private address (RFC 1918).
    private static func isPrivate(_ host: String) -> Bool {
        if isLoopback(host) { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
            .map { UInt8($0) }
        guard octets.count == 4, !octets.contains(nil), let first = octets[0],
            let second = octets[1]
        else { return false }
        return first == 10 || (first == 192 && second == 168)
            || (first == 172 && (16...31).contains(second))
    }

    private static func interval(_ rate: String) throws(ShapeError) -> Duration {
        guard rate.hasSuffix("/s"), let count = Int(rate.dropLast(2)), (1...1000).contains(count)
        else { throw ShapeError("", "'rate' must be 1/s to 1000/s, such as 5/s") }
        return .milliseconds(1000 / count)
    }
}

extension ConformFile.NativeSignIn {
    init(_ json: JSON, at place: String) throws(ShapeError) {
        let reader = try JSONObjectReader(
            json, at: place, knowing: ["client_id", "nonce", "steps", "signed_in"])
        clientID = try reader.required("client_id")
        nonce = try reader.part("nonce", ConformFile.NonceRule.init)
        steps = try reader.steps("steps")
        signedIn = try reader.part("signed_in", SignedInRule.init) ?? SignedInRule()
        guard steps.contains(where: \.usesCredential) else {
            throw ShapeError(place, "no step sends {{id_token}} or {{code}}")
        }
    }
}

extension ConformFile.WebSignIn {
    init(_ json: JSON, at place: String) throws(ShapeError) {
        let reader = try JSONObjectReader(
            json, at: place,
            knowing: ["client_id", "redirect_uri", "start", "finish", "signed_in"])
        clientID = try reader.required("client_id")
        redirectURI = try reader.required("redirect_uri")
        start = try reader.steps("start")
        finish = try reader.json["finish"] == nil ? [] : reader.steps("finish")
        signedIn = try reader.part("signed_in", SignedInRule.init) ?? SignedInRule()
        guard WebAddress(redirectURI) != nil else {
            throw ShapeError(place, "'redirect_uri' must be an http or https URL")
        }
    }
}

extension ConformFile.Whoami {
    init(_ json: JSON, at place: String) throws(ShapeError) {
        account = try JSONObjectReader(json, at: place, knowing: Step.members + ["account"])
            .required("account")
        step = try Step(
            .object((json.members ?? []).filter { $0.name != "account" }), at: place)
    }
}

extension ConformFile.Deletion {
    init(_ json: JSON, at place: String) throws(ShapeError) {
        let reader = try JSONObjectReader(
            json, at: place, knowing: ["steps", "revokes_within", "retries_within"])
        steps = try reader.steps("steps")
        revokesWithin = try reader.duration("revokes_within") ?? .seconds(30)
        retriesWithin = try reader.duration("retries_within")
    }
}

extension ConformFile.NonceRule {
    init(_ json: JSON, at place: String) throws(ShapeError) {
        let reader = try JSONObjectReader(json, at: place, knowing: ["from", "form"])
        source = try reader.optional("from") ?? .client
        form = try reader.optional("form") ?? .raw
    }
}

extension JSONObjectReader {
    /// An object member; nil if it is absent.
    func part<Part>(
        _ name: String, _ read: (JSON, String) throws(ShapeError) -> Part
    ) throws(ShapeError) -> Part? {
        guard let value = json[name] else { return nil }
        return try read(value, place.isEmpty ? name : "\(place).\(name)")
    }

    /// A member such as `30s`; nil if it is absent.
    func duration(_ name: String) throws(ShapeError) -> Duration? {
        guard let text: String = try optional(name) else { return nil }
        guard let duration = Duration(text: text), duration > .zero else {
            throw ShapeError(place, "'\(name)' must be a duration, such as 30s")
        }
        return duration
    }

    /// A member that is an array of steps.
    func steps(_ name: String) throws(ShapeError) -> [Step] {
        var steps: [Step] = []
        for (json, place) in try elements(name) { steps.append(try Step(json, at: place)) }
        return steps
    }
}

extension JSON {
    /// This object without members that are null: `"ca_file": null` is an absent member.
    fileprivate var withoutNulls: JSON {
        guard let members else { return self }
        return .object(members.filter { $0.value != .null })
    }
}
