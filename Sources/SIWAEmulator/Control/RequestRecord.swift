internal import SIWAJOSE
internal import SIWALifecycle

/// One request as `GET /emulator/requests` shows it: the request, the answer, and the reason.
/// Secrets appear as fingerprints, so that a log can be shared.
struct RequestRecord: Sendable {
    let number: Int
    let requestID: String
    let at: NumericDate
    let method: String
    let path: String
    let parameters: [String]
    /// The names of the query's parameters, where the parameters are in the body.
    let queryNames: [String]
    let secrets: [JSON.Member]
    let clientID: String?
    let grantType: String?
    let userAgent: String?
    let contentType: String?
    let status: Int
    let error: String?
    let verdict: String
    /// Whether a check failed; revoke answers 200 even then.
    let isRefused: Bool
    let fault: String?
    /// Everything that was examined, in order; empty once the record is old.
    var checks: [RequestCheck]

    var json: JSON {
        var members = [
            JSON.Member("number", .integer(number)), JSON.Member("at", .string(at.rfc3339)),
            JSON.Member("request_id", .string(requestID)), JSON.Member("method", .string(method)),
            JSON.Member("path", .string(path)), JSON.Member("parameters", parameters.json),
            JSON.Member("fingerprints", .object(secrets)),
        ]
        let optional = [
            ("client_id", clientID), ("grant_type", grantType), ("user_agent", userAgent),
            ("content_type", contentType),
        ]
        members += optional.map { JSON.Member($0, $1.map(JSON.string) ?? .null) }
        members.append(JSON.Member("status", .integer(status)))
        members.append(JSON.Member("error", error.map(JSON.string) ?? .null))
        members.append(JSON.Member("verdict", .string(verdict)))
        if !queryNames.isEmpty { members.append(JSON.Member("query", queryNames.json)) }
        if let fault { members.append(JSON.Member("fault", .string(fault))) }
        if !checks.isEmpty {
            members.append(JSON.Member("checks", .array(checks.map(\.json))))
        }
        return .object(members)
    }
}

extension RequestRecord {
    /// Whether one of its texts contains `text`, which has no capital letters.
    func contains(_ text: String) -> Bool {
        let texts =
            [requestID, method, path, String(status), verdict] + parameters
            + [clientID, grantType, userAgent, contentType, error, fault].compactMap { $0 }
            + secrets.compactMap(\.value.string)
        return texts.contains { $0.lowercased().mentions(text) }
    }
}

extension EmulatorRequest {
    /// The names in the query of a request whose parameters are in its body.
    fileprivate var queryNames: [String] {
        guard method == "POST" else { return [] }
        return query.split(separator: "&").prefix(32).map { pair in
            String(pair.prefix { $0 != "=" }).clipped
        }
    }
}

extension ReceivedForm {
    /// The names of the first parameters; limited, so that a hostile body cannot fill the log.
    var names: [String] { parameters.prefix(32).map(\.name.clipped) }

    /// Fingerprints of every secret value.
    var fingerprints: [JSON.Member] {
        let secret = [
            "client_secret", "code", "code_verifier", "refresh_token", "token", "transaction",
        ]
        return parameters.prefix(32).filter { secret.contains($0.name) }.map {
            JSON.Member($0.name, .string(SecretText($0.value).fingerprint))
        }
    }
}

extension RequestRecord {
    init(
        number: Int, requestID: String, at: NumericDate, _ request: EmulatorRequest,
        _ form: FormReading, _ answer: Answer, _ fault: Fault?, _ examination: Examination
    ) {
        let form = try? form.get()
        self.init(
            number: number, requestID: requestID, at: at, method: request.method.clipped,
            path: request.path.clipped, parameters: form?.names ?? [],
            queryNames: request.queryNames,
            secrets: form?.fingerprints ?? [],
            clientID: form?["client_id"]?.clipped ?? examination.clientID?.rawValue,
            grantType: form?["grant_type"]?.clipped,
            userAgent: request.fields["user-agent"]?.clipped,
            contentType: request.fields["content-type"]?.clipped,
            status: fault?.page?.status ?? answer.page.status,
            error: fault?.page == nil ? answer.error : fault?.error,
            verdict: answer.verdict, isRefused: answer.refusal != nil || answer.page.status >= 400,
            fault: fault?.summary, checks: examination.checks)
    }
}
