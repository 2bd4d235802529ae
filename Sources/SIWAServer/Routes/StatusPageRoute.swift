internal import SIWAHTTPServer
internal import SIWALifecycle

extension Route {
    /// `GET /`: the status page.
    static func statusPage(scope: Scope) -> Route {
        Route(
            .get, "/", scope: scope, "The status page.",
            responses: [RouteResponse(200, "A page for a browser.", .string())],
            mediaTypes: ["text/html"]
        ) { _, context in
            var response = ServerResponse.text(
                StatusPage(await context.status()).html, "text/html; charset=utf-8")
            response.fields += [
                HTTPField(
                    "Content-Security-Policy",
                    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
                HTTPField("X-Content-Type-Options", "nosniff"),
                HTTPField("Referrer-Policy", "no-referrer"),
            ]
            return response
        }
    }
}
