import Foundation
import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// An emulated Apple, and a signer that has the team's key: OpenSSL, as a shell script.
struct SignerSetup: Sendable {
    let apple: LocalApple
    let folder: TemporaryFolder
    let keyID: String

    init() async throws { try await self.init(LocalApple()) }

    /// - Parameter apple: whose team's key the signer gets.
    init(_ apple: LocalApple) async throws {
        self.apple = apple
        folder = try TemporaryFolder()
        let profile = try #require(
            try JSON(try apple.folder.contents("apple/config.json"))["profiles"]?["app"])
        keyID = try #require(profile["key_id"]?.string)
        let key = apple.folder.path("apple/AuthKey_\(keyID).p8")
        let pem = try await apple.siwa("public-key", "--key", key)
        try folder.write("public.pem", pem.output)
        try FileManager.default.copyItem(atPath: key, toPath: folder.path("key.p8"))
    }

    /// What every signer does that signs, as a shell function. It counts its calls in a file.
    var signing: String {
        """
        sign() {
            while IFS= read -r line && [ -n "$line" ]; do
                case $line in message=*) message=${line#message=} ;; esac
            done
            echo signed >> \(folder.path("calls"))
            printf 'signature=%s\\n\\n' "$(printf %s "$message" | base64 -d |
                openssl dgst -sha256 -sign \(folder.path("key.p8")) | base64 -w 0)"
        }

        """
    }

    /// How often the signer was asked.
    var calls: Int {
        (try? folder.contents("calls").count { $0 == UInt8(ascii: "\n") }) ?? 0
    }

    /// Writes a signer.
    @discardableResult
    func script(_ body: String, mode: mode_t = 0o700) throws -> String {
        let path = try folder.write("signer", "#!/bin/sh\n" + signing + body + "\n")
        chmod(path, mode)
        return path
    }

    /// Writes a configuration whose private key is with a signer.
    ///
    /// - Parameters:
    ///   - members: those of `private_key`, without the public key.
    ///   - server: the object `server`, if there is one.
    func configure(
        _ members: [JSON.Member], server: [JSON.Member]? = nil, as name: String = "signer.json"
    ) throws {
        let file = try JSON(try apple.folder.contents("apple/config.json"))
        let key = JSON.object(
            members + [.init("public_key", .string(folder.path("public.pem")))])
        let profiles = try #require(file["profiles"]?.members).map { profile in
            let isOwn = profile.name != "recipient"
            return JSON.Member(
                profile.name,
                .object(
                    (profile.value.members ?? []).map {
                        isOwn && $0.name == "private_key" ? .init("private_key", key) : $0
                    }))
        }
        let others = (file.members ?? []).filter { $0.name != "profiles" }
        let own =
            [JSON.Member("profiles", .object(profiles))]
            + (server.map { [.init("server", .object($0))] } ?? [])
        let path = try apple.folder.write("apple/\(name)", JSON.object(others + own).text)
        chmod(path, 0o600)
    }

    /// The key of the team.
    func key() throws -> P256PrivateKey {
        try PrivateKeyText(SecretBytes(try folder.contents("key.p8"))).privateKey()
    }

    /// A service that signs.
    func signingSocket() throws -> SignerSocket {
        try SignerSocket(at: folder.path("sign.sock"), try key())
    }

    func configure(exec words: String..., timeout: String = "10s") throws {
        try configure([
            .init("exec", .array(words.map { .string($0) })), .init("timeout", .string(timeout)),
        ])
    }

    /// The settings of every run.
    var environment: [String: String] {
        ["SIWA_CONFIG": apple.folder.path("apple/signer.json"), "PATH": "/usr/bin:/bin"]
    }

    /// Runs `siwa` with the signer.
    func siwa(_ arguments: String..., input: String = "") async throws -> ProgramResult {
        try await apple.siwa(arguments, input: input, environment: environment)
    }
}
