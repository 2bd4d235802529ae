internal import CommandTable
internal import HTTPServer
internal import JOSE
internal import Lifecycle
internal import SIWACLI
internal import ServerRecords

/// Reads the parts of a request to a route, strictly: what is unknown is an error.
struct RequestReading {
    private let route: Route
    private let values: [String: String]
    private let target: RequestTarget

    init(_ route: Route, _ values: [String: String], _ target: RequestTarget) {
        (self.route, self.values, self.target) = (route, values, target)
    }

    func request(
        _ http: ServerRequest, _ id: String, _ scopes: Set<APIScope>
    ) throws(Problem) -> RouteRequest {
        if !route.mediaTypes.isEmpty, http.fields["accept"] != nil,
            AcceptedTypes(http.fields["accept"]).preferred(among: route.mediaTypes) == nil
        {
            throw Problem(
                406, "not_acceptable",
                "the answer is \(route.mediaTypes.joined(separator: " or ")), which Accept refuses")
        }
        return RouteRequest(
            id: id, parameters: try parameters(), body: try body(http), scopes: scopes, http: http)
    }

    private func parameters() throws(Problem) -> [String: String] {
        var parameters = values
        let known = route.parameters.filter { $0.place == .query }.map(\.name)
        // What calls an open route, such as a monitoring system, may add parameters of its own.
        for parameter in target.parameters where route.scope != .open || !known.isEmpty {
            guard known.contains(parameter.name) else {
                throw .malformed(
                    "the query has the unknown parameter '\(printable(parameter.name))'",
                    hints: didYouMean(suggestions(for: parameter.name, among: known)))
            }
            guard parameters.updateValue(parameter.value, forKey: parameter.name) == nil else {
                throw .malformed("the query has '\(parameter.name)' more than once")
            }
        }
        return parameters
    }

    private func body(_ http: ServerRequest) throws(Problem) -> JSON {
        guard let schema = route.body else { return [:] }
        guard isJSON(http) else {
            throw Problem(
                415, "unsupported_media_type", "the body must be application/json, not encoded")
        }
        let body: JSON
        do throws(JSONError) {
            body = try JSON(http.body)
        } catch {
            throw .malformed("the body \(error)")
        }
        guard let members = body.members else {
            throw .malformed("the body must be an object, not \(body.kind)")
        }
        let known = schema.json["properties"]
        for member in members where known?[member.name] == nil {
            let names = known?.members?.map(\.name) ?? []
            throw .malformed(
                "the body has the unknown member '\(printable(member.name))'",
                hints: didYouMean(suggestions(for: member.name, among: names)))
        }
        return body
    }

    private func isJSON(_ http: ServerRequest) -> Bool {
        let coding = http.fields["content-encoding"]?.lowercased() ?? "identity"
        let type = http.fields["content-type"] ?? ""
        // As nearly everybody writes it.
        if type.isExactly("application/json") { return coding == "identity" }
        let name = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return name == "application/json" && coding == "identity"
    }
}

extension Problem {
    /// A request that is not as its route demands.
    package static func malformed(_ detail: String, hints: [String] = []) -> Self {
        Self(400, "invalid_request", detail, hints: hints)
    }
}
