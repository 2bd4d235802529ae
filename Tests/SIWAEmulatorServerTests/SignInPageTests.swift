import Foundation
import FoundationNetworking
import SIWALifecycle
import SIWATestSupport
import Testing

@Suite struct SignInPageTests {
    @Test func `the page and its form work over a socket`() async throws {
        try await Served.run { served in
            let page = try await served.send("GET", Self.request)
            #expect(page.status == 200)
            #expect(page.fields["content-type"] == "text/html;charset=UTF-8")
            #expect(page.fields["content-security-policy"] != nil)
            let form = try #require(HTMLForm(page.body))
            let answer = try await Self.submit(form, to: served)
            #expect(answer.hasPrefix("HTTP/1.1 302 "))
            let location = try #require(answer.firstMatch(of: /Location: ([^\r]*)\r\n/)?.output.1)
            let code = try #require(
                location.wholeMatch(of: /https:\/\/example\.com\/callback\?code=([^&]*)&state=s/))
            #expect(code.output.1.hasPrefix("c"))
            let again = try await Self.submit(form, to: served)
            #expect(again.hasPrefix("HTTP/1.1 400 "))
        }
    }

    @Test func `the sign-in page accepts any host name, a control request does not`() async throws {
        try await Served.run { served in
            for (target, status) in [(Self.request, 200), ("/emulator/requests", 403)] {
                let answer = try await RawClient.talk(to: served.port) { client in
                    client.send(
                        "GET \(target) HTTP/1.1\r\nHost: appleid.apple.com\r\n"
                            + "Connection: close\r\n\r\n")
                    return client.readToEnd()
                }
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
            }
        }
    }

    private static let request =
        "/auth/authorize?client_id=com.example.web&response_type=code&state=s"
        + "&redirect_uri=https%3A%2F%2Fexample.com%2Fcallback"

    /// Sends a form as a browser; an ordinary client would follow the redirection at once.
    private static func submit(_ form: HTMLForm, to served: Served) async throws -> String {
        let fields = form.fields.map { ($0.name, Form.Value.plain($0.value)) }
        let body = SecretText(Form(fields + [("action", .plain("continue"))]).encoded()).revealed()
        return try await RawClient.talk(to: served.port) { client in
            client.send(
                "POST \(form.action) HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n"
                    + "Content-Type: \(Form.contentType)\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(body)")
            return client.readToEnd()
        }
    }
}
