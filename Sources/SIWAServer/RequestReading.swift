internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAHTTPServer
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAServerRecords

/// Reads the parts of a request to a route strictly: unknown parameters and members are errors.
struct RequestReading {
    private let route: Route
    private let values: [String: String]
    private let query: [RequestTarget.Parameter]

    /// - Parameter values: the values in the path.
    init(_ route: Route, _ values: [String: String], _ query: [RequestTarget.Parameter]) {
        (self.route, self.values, self.query) = (route, values, query)
    }

    func request(
        _ http: ServerRequest, _ id: String, _ scopes: Set<APIScope>, _ subject: RequestSubject
    ) throws(Problem) -> RouteRequest {
        if !route.mediaTypes.isEmpty, http.fields.list("accept") != nil,
            AcceptedTypes(http.fields.list("accept")).preferred(among: route.mediaTypes) == nil
        {
            throw Problem(
                .notAcceptable, .notAcceptable,
                "the answer is \(route.mediaTypes.joined(separator: " or ")), which Accept refuses")
        }
        return RouteRequest(
            id: id, parameters: try parameters(), body: try body(http), scopes: scopes, http: http,
            subject: subject)
    }

    private func parameters() throws(Problem) -> [String: String] {
        var parameters = values
        let known = route.queryNames
        // A caller of an open route, such as a monitoring system, may add its own parameters.
        for parameter in query where route.scope != .open || !known.isEmpty {
            guard known.contains(parameter.name) else {
                throw .malformed(
                    "the query has an unknown parameter '\(printable(parameter.name))'",
                    hints: didYouMean(suggestions(for: parameter.name, among: known)))
            }
            guard parameters.updateValue(parameter.value, forKey: parameter.name) == nil else {
                throw .malformed("the query has '\(parameter.name)' more than once")
            }
        }
        return parameters
    }

    private func body(_ http: ServerRequest) throws(Problem) -> JSON {
        guard route.body != nil else { return [:] }
        guard isJSON(http) else {
            throw Problem(
                .unsupportedMediaType, .unsupportedMediaType,
                "the body must be application/json, not encoded")
        }
        let body: JSON
        do throws(JSONError) {
            body = try JSON(http.body)
        } catch {
            throw .malformed("the body \(error)")
        }
        do throws(ShapeError) {
            return try JSONObjectReader(body, at: "the body", knowing: route.bodyNames).json
        } catch {
            guard case .unknown(let name, _) = error.fault else {
                throw .malformed("\(error.place) \(error.fault)")
            }
            throw .malformed(
                "the body has an unknown member '\(printable(name))'",
                hints: didYouMean(suggestions(for: name, among: route.bodyNames)))
        }
    }

    private func isJSON(_ http: ServerRequest) -> Bool {
        let coding = http.fields.list("content-encoding")
        guard coding == nil || coding?.lowercased() == "identity",
            let type = http.fields.only("content-type")
        else { return false }
        // The usual spelling.
        if type.isExactly("application/json") { return true }
        let name = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return name == "application/json"
    }
}

extension Problem {
    /// A request that violates the rules of its route.
    static func malformed(_ detail: String, hints: [String] = []) -> Self {
        Self(.badRequest, .invalidRequest, detail, hints: hints)
    }
}
