internal import SIWAEmulator
internal import SIWAJOSE
internal import SIWALifecycle

/// The good requests of a file, with their templates, for people.
package struct DryRun {
    private let file: ConformFile

    package init(_ file: ConformFile) { self.file = file }

    package var text: String {
        var lines: [String] = []
        let parts: [(String, [Step])] = [
            ("sign_in", file.signIn?.steps ?? []), ("web.start", file.web?.start ?? []),
            ("web: what the browser brings from Apple's page", file.web?.callback ?? []),
            ("web.finish", file.web?.finish ?? []),
            ("whoami", file.whoami.map { [$0.step] } ?? []),
            ("password_account", file.passwordAccount ?? []),
            ("notifications", file.notifications.map { [$0] } ?? []),
            ("delete", file.deletion?.steps ?? []),
        ]
        for (name, steps) in parts {
            for step in steps {
                lines.append("# \(name)")
                lines.append("\(step.method) \(file.app)\(step.path)")
                for header in file.headers + step.headers {
                    lines.append("\(header.name): \(header.value.plainText)")
                }
                switch step.body {
                case .none: break
                case .json(let json): lines += ["", json.indentedText]
                case .form(let members):
                    lines += [""] + members.map { "\($0.name)=\($0.value.plainText)" }
                }
                lines.append("")
            }
        }
        return lines.joined(separator: "\n")
    }
}

extension ConformFile.WebSignIn {
    /// The callback, as the backend's `response_mode` usually has it; on the web, a step of its
    /// own would be wrong, because the backend's redirect says what is brought, and how.
    fileprivate var callback: [Step] {
        guard let redirect = WebAddress(redirectURI) else { return [] }
        let step: JSON = [
            "post": .string(redirect.target), "headers": ["Host": .string(redirect.authority)],
            "form": [
                "code": "{{code}}", "id_token": "{{id_token}}", "user": "{{user}}",
                "state": "{{state}}",
            ],
        ]
        return (try? Step(step, at: "web")).map { [$0] } ?? []
    }
}

extension ConformFile {
    /// Whether the backend is on this machine.
    package var isOnLoopback: Bool { WebAddress(app).map { isLoopback($0.host) } ?? false }
}
