internal import SIWAJOSE
internal import SIWALifecycle

extension Answer {
    /// Runs an endpoint that people see: a refusal is a page, never a redirect.
    /// A client that asks for JSON gets the error as JSON (Apple: TN3107), which no browser does.
    static func onPage(
        _ request: EmulatorRequest, _ form: Behaviors.AuthorizeRefusal,
        _ endpoint: () throws -> Answer
    ) -> Answer {
        Answer {
            do {
                return try endpoint()
            } catch let refusal as Refusal where request.wantsJSON {
                return Answer(
                    .json(["error": .string(refusal.code.rawValue)], status: 400), refusal)
            } catch let refusal as Refusal {
                return Answer(
                    refusal.document(request, form).page(status: form == .page ? 400 : 200),
                    refusal)
            }
        }
    }
}

extension EmulatorRequest {
    /// Whether JSON is asked for, and no page.
    fileprivate var wantsJSON: Bool {
        let types = (fields["accept"] ?? "").split(separator: ",").map { type in
            type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        }
        return types.contains("application/json") && !types.contains("text/html")
    }
}

extension Refusal {
    /// The error as Apple's page shows it, and the reason, which Apple does not reveal.
    fileprivate func document(
        _ request: EmulatorRequest, _ form: Behaviors.AuthorizeRefusal
    ) -> Document {
        let description: HTML = description.map { "<h2>What Apple says</h2><p>\($0)</p>" } ?? ""
        // The console is not available under Apple's own host name.
        let console: HTML =
            (try? ControlGate.check(request)) == nil
            ? "" : #"<p><a href="\#(ConsoleRoute.root)">See the request in the console</a></p>"#
        return Document(
            title: code.rawValue,
            content: """
                \(description)
                <h2>What is wrong</h2>
                <p class="problem">\(verdict)</p>
                <h2>What to change</h2>
                <p>\(advice)</p>
                \(console)
                \(form == .embedded ? embedded : "")
                """)
    }

    /// The error as a block of data.
    private var embedded: HTML {
        let error: JSON = [
            "direct": [
                "errorMessage": .string(description ?? ""), "errorCode": .string(code.rawValue),
            ]
        ]
        return HTML(stringLiteral: #"<script type="application/json">\#(error.text)</script>"#)
    }
}
