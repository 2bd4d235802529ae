internal import SIWACrypto
internal import SIWAEmulator
internal import SIWAJOSE
package import SIWALifecycle

/// Sends a request with any method; the transport behind it follows no redirect and uses no proxy.
package protocol BackendTransport: Sendable {
    func send(
        _ method: String, _ request: HTTPRequest, timeout: Duration
    ) async throws(TransportError) -> HTTPResponse
}

/// The last page of a request and its redirects.
struct VisitedPage: Sendable {
    let response: HTTPResponse
    /// The path that answered.
    let path: String
    /// Where it redirects to, if that is another host.
    let leaving: String?
}

/// A browser, or the HTTP client of an app: it keeps cookies, and follows redirects on its host.
struct Browser: Sendable {
    private struct Cookie: Sendable {
        var value: String
        var sameSite: String
    }

    let file: ConformFile
    let transport: any BackendTransport
    let timeout: Duration
    private var cookies: [String: Cookie] = [:]
    /// The statuses of all answers.
    private(set) var statuses: [Int] = []
    /// The cookies that another site's form did not bring.
    private(set) var withheld: Set<String> = []
    /// The Host header, where it differs from that of `app`.
    var host: String?

    init(_ file: ConformFile, _ transport: any BackendTransport, timeout: Duration) {
        (self.file, self.transport, self.timeout) = (file, transport, timeout)
    }

    func cookie(_ name: String) -> String? { cookies[name]?.value }

    /// The values of all cookies.
    var cookieValues: [String] { cookies.values.map(\.value) }

    /// Sends one request, and follows its redirects on the same host, ten at most.
    ///
    /// - Parameter isCrossSite: whether another site's page posts it: cookies that say
    ///   `SameSite=Lax` or `Strict` are then left out, as browsers do. One that says nothing is sent
    ///   (Chrome does so for two minutes, others always).
    mutating func visit(
        _ method: String, _ target: String, fields: [HTTPField] = [], body: [UInt8] = [],
        isCrossSite: Bool = false
    ) async throws(TransportError) -> VisitedPage {
        var (method, target, fields, body) = (method, target, fields, body)
        var isForeignPost = isCrossSite && method == "POST"
        for _ in 0..<10 {
            let response = try await send(method, target, fields, body, isForeignPost)
            statuses.append(response.status)
            keep(response)
            let path = String(target.prefix { $0 != "?" })
            guard (300..<400).contains(response.status), let location = response.fields["Location"]
            else { return VisitedPage(response: response, path: path, leaving: nil) }
            guard let next = self.target(of: location, from: path) else {
                return VisitedPage(response: response, path: path, leaving: location)
            }
            if response.status != 307 && response.status != 308 {
                (method, body) = ("GET", [])
                fields = fields.filter { !$0.isNamed("Content-Type") }
            }
            // The navigation that follows a redirect is a top-level GET, which gets Lax cookies.
            isForeignPost = isForeignPost && method == "POST"
            target = next
        }
        throw TransportError(.malformed, "more than ten redirects", requestMayHaveLeft: true)
    }

    private mutating func send(
        _ method: String, _ target: String, _ fields: [HTTPField], _ body: [UInt8],
        _ isForeignPost: Bool
    ) async throws(TransportError) -> HTTPResponse {
        var all = fields
        for header in file.headers where all[header.name] == nil {
            all.append(HTTPField(header.name, header.value.plainText))
        }
        if let host, all["Host"] == nil { all.append(HTTPField("Host", host)) }
        let kept = cookies.filter { !isForeignPost || ["", "none"].contains($0.value.sameSite) }
        withheld.formUnion(cookies.keys.filter { kept[$0] == nil })
        let sent = kept.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.value)" }
        if !sent.isEmpty { all.append(HTTPField("Cookie", sent.joined(separator: "; "))) }
        all = all.filter { field in
            !(field.name + field.value).utf8.contains { $0 < 0x20 || $0 == 0x7F }
        }
        return try await transport.send(
            method,
            HTTPRequest(
                method: method == "GET" ? .get : .post, url: file.app + target, fields: all,
                body: SecretBytes(body), isRepeatable: false), timeout: timeout)
    }

    private mutating func keep(_ response: HTTPResponse) {
        for field in response.fields where field.isNamed("Set-Cookie") {
            let parts = field.value.split(separator: ";").map { $0.trimmed }
            let pair = (parts.first ?? "").split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            let attributes = parts.dropFirst().map { $0.lowercased() }
            let site = attributes.first { $0.hasPrefix("samesite=") }?.dropFirst(9)
            let name = String(pair[0])
            let isGone = attributes.contains { $0 == "max-age=0" || $0.holds("1970") }
            cookies[name] =
                isGone
                ? nil : Cookie(value: String(pair[1]), sameSite: site.map(String.init) ?? "")
        }
    }

    /// The path and query of a redirect on this host; nil for another host.
    private func target(of location: String, from path: String) -> String? {
        if location.hasPrefix("//") { return nil }
        if location.hasPrefix("/") { return location }
        guard let url = WebAddress(location) else {
            guard !location.contains(":") else { return nil }
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
            return folder + location
        }
        let isHere = url.authority == host || url.origin == file.app
        return isHere ? url.target : nil
    }
}

extension Substring {
    /// Without white space at its ends.
    var trimmed: String {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

// Steps.
extension Browser {
    /// Carries out a step, and saves what it names.
    mutating func take(
        _ step: Step, _ values: inout Values
    ) async throws(TransportError) -> VisitedPage {
        var fields = step.headers.compactMap { header in
            values.filled(header.value).map { HTTPField(header.name, $0.plainText) }
        }
        var body: [UInt8] = []
        switch step.body {
        case .none: break
        case .json(let json):
            body = (values.filled(values.extended(json)) ?? .null).bytes
            if fields["Content-Type"] == nil {
                fields.append(HTTPField("Content-Type", "application/json"))
            }
        case .form(let members):
            let filled = values.filled(values.extended(.object(members))) ?? [:]
            body = Self.form((filled.members ?? []).map { ($0.name, $0.value.plainText) })
            if fields["Content-Type"] == nil {
                fields.append(HTTPField("Content-Type", Form.contentType))
            }
        }
        let page = try await visit(
            step.method, values.substituted(step.path), fields: fields, body: body)
        save(step, page.response, &values)
        return page
    }

    /// A form, encoded.
    static func form(_ parameters: [(String, String)]) -> [UInt8] {
        Form(parameters.map { ($0.0, .plain($0.1)) }).encoded().revealed()
    }

    private func save(_ step: Step, _ response: HTTPResponse, _ values: inout Values) {
        for (name, source) in step.saves {
            switch source {
            case .json(let pointer):
                values.known[name] = (try? JSON(response.body))?.value(at: pointer)
            case .header(let field): values.known[name] = response.fields[field].map(JSON.string)
            case .cookie(let cookie): values.known[name] = self.cookie(cookie).map(JSON.string)
            case .html(let input):
                let page = String(decoding: response.body, as: UTF8.self)
                values.known[name] = Self.input(input, in: page).map(JSON.string)
            }
        }
    }

    /// The value of the input element called `name`.
    static func input(_ name: String, in page: String) -> String? {
        for element in page.split(separator: "<") where element.hasPrefix("input") {
            let tag = element.prefix { $0 != ">" }
            guard attribute("name", of: tag) == name else { continue }
            return attribute("value", of: tag)
        }
        return nil
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        guard let start = tag.firstPlace(of: " \(name)=") else { return nil }
        let rest = tag[start.upperBound...]
        guard let quote = rest.first, quote == "\"" || quote == "'" else {
            return String(rest.prefix { !$0.isWhitespace && $0 != "/" })
        }
        return String(rest.dropFirst().prefix { $0 != quote })
            .replacingEvery("&quot;", with: "\"").replacingEvery("&amp;", with: "&")
    }
}
