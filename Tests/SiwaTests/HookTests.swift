import Foundation
import SIWAJOSE
import SIWATestSupport
import Testing

/// The programs in deploy/hooks, run by siwa against local servers.
@Suite(.enabled(if: Executable.installed("curl") != nil, "needs curl"))
struct HookTests {
    private let apple: LocalApple
    private let folder: TemporaryFolder

    init() async throws {
        apple = try await LocalApple()
        folder = try TemporaryFolder()
    }

    private static let hooks = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../deploy/hooks").standardized.path()

    private func deploy(
        _ hook: String, _ environment: [String: String]
    ) async throws -> ProgramResult {
        try await apple.siwa(
            [
                "secret", "--lifetime", "90d", "--out", folder.path("secret"), "--deploy",
                "\(Self.hooks)/\(hook)",
            ], environment: environment.merging(["PATH": "/usr/bin:/bin"]) { $1 })
    }

    private var secret: String {
        get throws {
            String(decoding: try folder.contents("secret").dropLast(), as: UTF8.self)
        }
    }

    private static let success: [Step] = [.readRequest, .answer(200, "{}"), .close]

    @Test func `supabase gets the secret through its management API`() async throws {
        let token = try folder.write("token", "sbp_0123456789abcdef\n")
        try await RawServer.serving(Self.success) { server in
            let result = try await deploy(
                "supabase",
                [
                    "SUPABASE_PROJECT_REF": "abcdefgh", "SUPABASE_ACCESS_TOKEN_FILE": token,
                    "SUPABASE_API_URL": server.url,
                ])
            #expect(result.exitCode == 0, "\(result)")
            #expect(result.errors.contains("project abcdefgh has the new secret"), "\(result)")
            let request = try #require(server.requests.first)
            #expect(request.line == "PATCH /v1/projects/abcdefgh/config/auth HTTP/1.1")
            #expect(request.head.contains("\r\nAuthorization: Bearer sbp_0123456789abcdef\r\n"))
            #expect(request.head.contains("\r\nContent-Type: application/json\r\n"))
            let body = try JSON(text: request.body)
            #expect(body == ["external_apple_secret": .string(try secret)])
        }
    }

    @Test(arguments: ["supabase", "kubernetes"])
    func `a refusal leads to exit 8, and the error names the status`(_ hook: String) async throws {
        let token = try folder.write("token", "token\n")
        try folder.write("namespace", "web")
        let refusal: [Step] = [.readRequest, .answer(403, "{}"), .close]
        try await RawServer.serving(refusal) { server in
            let result = try await deploy(
                hook,
                [
                    "SUPABASE_PROJECT_REF": "a", "SUPABASE_ACCESS_TOKEN_FILE": token,
                    "SUPABASE_API_URL": server.url, "KUBERNETES_API_URL": server.url,
                    "KUBERNETES_ACCOUNT": folder.path, "KUBERNETES_SECRET": "apple",
                ])
            #expect(result.exitCode == 8, "\(result)")
            #expect(result.errors.contains("403"), "\(result)")
            #expect(try !result.errors.contains(secret), "\(result)")
        }
    }

    @Test func `a kubernetes secret is patched as the service account`() async throws {
        try folder.write("token", "eyJ0.service.account")
        try folder.write("namespace", "web")
        try await RawServer.serving(Self.success) { server in
            let result = try await deploy(
                "kubernetes",
                [
                    "KUBERNETES_API_URL": server.url, "KUBERNETES_ACCOUNT": folder.path,
                    "KUBERNETES_SECRET": "apple", "KUBERNETES_SECRET_KEY": "APPLE_CLIENT_SECRET",
                ])
            #expect(result.exitCode == 0, "\(result)")
            let request = try #require(server.requests.first)
            let path = "/api/v1/namespaces/web/secrets/apple?fieldManager=siwa"
            #expect(request.line == "PATCH \(path) HTTP/1.1")
            #expect(request.head.contains("\r\nAuthorization: Bearer eyJ0.service.account\r\n"))
            #expect(request.head.contains("\r\nContent-Type: application/merge-patch+json\r\n"))
            let body = try JSON(text: request.body)
            #expect(body == ["stringData": ["APPLE_CLIENT_SECRET": .string(try secret)]])
        }
    }

    @Test func `keycloak's file vault gets a file without a line end`() async throws {
        let vault = folder.path("vault")
        try FileManager.default.createDirectory(
            atPath: vault, withIntermediateDirectories: false)
        for _ in 0..<2 {
            let result = try await deploy(
                "keycloak", ["KEYCLOAK_VAULT_DIR": vault, "KEYCLOAK_REALM": "my_realm"])
            #expect(result.exitCode == 0, "\(result)")
            let file = try folder.contents("vault/my__realm_apple-secret")
            #expect(String(decoding: file, as: UTF8.self) == (try secret))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: vault)
        #expect(names == ["my__realm_apple-secret"])
        let status = try FileManager.default.attributesOfItem(
            atPath: "\(vault)/my__realm_apple-secret")
        #expect(status[.posixPermissions] as? Int == 0o600)
    }

    @Test(arguments: ["supabase", "kubernetes", "keycloak"])
    func `a missing variable is named`(_ hook: String) async throws {
        let result = try await deploy(hook, [:])
        #expect(result.exitCode == 8, "\(result)")
        #expect(result.errors.contains("\(hook): "), "\(result)")
    }
}
