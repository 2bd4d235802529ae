import Foundation
import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

/// What a hostile or broken signer does, and what siwa then does: a documented exit code within the
/// time-out, no process left, nothing sent to Apple, no code spent.
@Suite struct HostileSignerTests {
    private let setup: SignerSetup

    init() async throws { setup = try await SignerSetup() }

    struct Misdeed: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let script: String
        let exitCode: CInt
        let code: String
        var mentions = ""

        init(
            _ name: String, _ script: String, _ exitCode: CInt, _ code: String,
            mentions: String = ""
        ) {
            (testDescription, self.script) = (name, script)
            (self.exitCode, self.code, self.mentions) = (exitCode, code, mentions)
        }
    }

    static let misdeeds: [Misdeed] = [
        Misdeed("asks to try later", "exit 75", 75, "signer_unavailable"),
        Misdeed("never answers", "sleep 1000", 75, "signer_unavailable", mentions: "within"),
        Misdeed(
            "ignores SIGTERM", "trap '' TERM; while :; do sleep 1; done", 75,
            "signer_unavailable"),
        Misdeed("is killed", "kill -9 $$", 75, "signer_unavailable", mentions: "signal 9"),
        Misdeed("says nothing", "cat > /dev/null", 75, "signer_unavailable"),
        Misdeed(
            "writes a line a second for ever",
            "while :; do echo nothing=of-interest; sleep 1; done", 75, "signer_unavailable"),
        Misdeed("denies", "echo no PIN >&2; exit 77", 3, "signer_refused", mentions: "no PIN"),
        Misdeed("fails", "exit 9", 3, "signer_refused", mentions: "exit code 9"),
        Misdeed(
            "writes a gigabyte", "head -c 1000000000 /dev/zero", 3, "signer_refused",
            mentions: "64 KiB"),
        Misdeed(
            "writes a gigabyte of errors", "head -c 1000000000 /dev/zero >&2; exit 9", 3,
            "signer_refused"),
        Misdeed("answers an empty line", "echo", 3, "signer_invalid_signature"),
        Misdeed(
            "cuts its answer off", "sign | head -n 1", 3, "signer_invalid_signature",
            mentions: "empty line"),
        Misdeed(
            "cuts the signature off", "sign | sed 's/^\\(signature=.\\{30\\}\\).*/\\1/'", 3,
            "signer_invalid_signature"),
        Misdeed(
            "returns zeros", "printf 'signature=%s\\n\\n' $(head -c 64 /dev/zero | base64 -w 0)", 3,
            "signer_invalid_signature"),
        Misdeed(
            "returns numbers out of range",
            "printf 'signature=%s\\n\\n' $(head -c 64 /dev/zero | tr '\\0' '\\377' | base64 -w 0)",
            3, "signer_invalid_signature"),
        Misdeed(
            "signs with another key",
            """
            openssl ecparam -name prime256v1 -genkey -noout -out "$1.other" 2>/dev/null
            printf 'signature=%s\\n\\n' "$(openssl dgst -sha256 -sign "$1.other" "$0" | base64 -w 0)"
            """, 3, "signer_invalid_signature"),
    ]

    @Test(arguments: misdeeds) func `a hostile signer costs an exit code, and no code of a user`(
        _ misdeed: Misdeed
    ) async throws {
        let marker = setup.folder.path("marker")
        // What is refused for its answer has the time that a busy machine needs; a signer that may
        // sign later is asked until the time-out.
        let (limit, timeout) = misdeed.exitCode == 75 ? ("2s", "20s") : ("60s", "65s")
        try setup.configure(
            exec: try setup.script(misdeed.script), marker, timeout: limit)
        let before = try await setup.apple.requests().count
        let code = try await setup.apple.code()
        let result = try await setup.siwa("exchange", "--code", code, "--timeout", timeout)
        #expect(result.exitCode == misdeed.exitCode, "\(result)")
        #expect(result.errors.contains("siwa: \(misdeed.code): "), "\(result)")
        #expect(
            misdeed.mentions.isEmpty || result.errors.contains(misdeed.mentions), "\(result)")
        #expect(result.output.isEmpty)
        #expect(try await setup.apple.requests().count == before, "nothing was sent")
        try await eventually("nothing of the signer runs") { Self.processes(with: marker) == [] }
        let other = try await setup.apple.siwa("exchange", "--code", code)
        #expect(other.exitCode == 0, "the code is not spent: \(other)")
    }

    @Test(arguments: [
        ("closes its input", "exec <&-; message=$(cat \"$1\"); sign </dev/null; exit 9"),
        ("exits before it reads", "exit 9"),
    ]) func `a signer that does not read ends siwa no other way`(
        _ name: String, _ script: String
    ) async throws {
        try setup.configure(exec: try setup.script(script), "x")
        let result = try await setup.siwa("secret")
        #expect(result.exitCode == 3, "\(result)")
    }

    @Test func `children that a signer leaves are ended, and the secret is printed`() async throws {
        let marker = setup.folder.path("child")
        try setup.configure(
            exec: try setup.script(
                """
                sh -c 'trap "" TERM; while :; do sleep 1; done' child \(marker) &
                sign
                """))
        let result = try await setup.siwa("secret")
        #expect(result.exitCode == 0 && result.output.hasPrefix("eyJ"), "\(result)")
        try await eventually("the child is gone") { Self.processes(with: marker) == [] }
    }

    @Test func `what a signer says is shown without secrets and controls`() async throws {
        let secret = String(repeating: "Ab1+", count: 12)
        try setup.configure(
            exec: try setup.script(
                "printf 'bad \\033[31mtoken %s \\302\\2332Jhere\\n' \(secret) >&2; exit 9"))
        let result = try await setup.siwa("secret")
        #expect(
            result.errors.contains("the signer said: bad [31mtoken (masked) 2Jhere"), "\(result)")
        #expect(!result.errors.contains(secret))
        #expect(!result.errors.unicodeScalars.contains { ["\u{1B}", "\u{9B}"].contains($0) })
    }

    @Test func `a signer that is unavailable is asked again within the time-out`() async throws {
        try setup.configure(
            exec: try setup.script(
                """
                if [ ! -e \(setup.folder.path("second")) ]; then
                    touch \(setup.folder.path("second")); exit 75
                fi
                sign
                """))
        let result = try await setup.siwa("secret")
        #expect(result.exitCode == 0 && setup.calls == 1, "\(result)")
    }

    struct Place: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let prepare: @Sendable (SignerSetup) throws -> String
        let mentions: String

        init(
            _ name: String, mentions: String,
            _ prepare: @escaping @Sendable (SignerSetup) throws -> String
        ) {
            (testDescription, self.mentions, self.prepare) = (name, mentions, prepare)
        }
    }

    static let places: [Place] = [
        Place("missing", mentions: "does not exist") { $0.folder.path("nothing") },
        Place("not executable", mentions: "is not executable") {
            try $0.script("sign", mode: 0o600)
        },
        Place("a folder", mentions: "is a folder") { $0.folder.path },
        Place("a FIFO", mentions: "is not a regular file") {
            let path = $0.folder.path("fifo")
            mkfifo(path, 0o700)
            return path
        },
        Place("writable by others", mentions: "can be written by others") {
            try $0.script("sign", mode: 0o722)
        },
        Place("in a folder that others can write", mentions: "is in the folder") {
            let path = try $0.folder.write("open/signer", "#!/bin/sh\n")
            chmod(path, 0o700)
            chmod($0.folder.path("open"), 0o777)
            return path
        },
        Place("not for this machine", mentions: "cannot be run") {
            let path = try $0.folder.write("binary", [0x7F, 0x45, 0x4C, 0x46])
            chmod(path, 0o700)
            return path
        },
    ]

    @Test(arguments: places) func `a program that must not be run is not`(
        _ place: Place
    ) async throws {
        // Root may run and replace everything, but not a file that nobody may execute.
        try setup.configure(exec: try place.prepare(setup))
        let result = try await setup.siwa("secret", "--timeout", "3s")
        #expect(result.exitCode == 3, "\(result)")
        #expect(
            result.errors.contains("siwa: signer_unusable: ")
                && result.errors.contains(place.mentions), "\(result)")
    }

    @Test func `a configuration that others can write must not name a signer`() async throws {
        try setup.configure(exec: try setup.script("sign"))
        chmod(setup.apple.folder.path("apple/signer.json"), 0o622)
        let result = try await setup.siwa("secret")
        #expect(result.exitCode == 3 && setup.calls == 0, "\(result)")
        #expect(result.errors.contains("siwa: signer_unusable: "), "\(result)")
    }

    @Test(arguments: [
        (#""env": ["LD_PRELOAD=x"], "exec": ["/bin/true"]"#, "LD_PRELOAD"),
        (#""env": ["SIWA_X"], "exec": ["/bin/true"]"#, "SIWA_X"),
        (#""exec": ["true"]"#, "absolute"),
        (#""exec": []"#, "empty 'exec'"),
        (#""exec": ["/bin/true"], "socket": "/s""#, "both"),
        (#""timeout": "1s""#, "needs one of"),
        (#""exec": ["/bin/true"], "timeout": "6m""#, "at most 5m"),
        (#""exec": ["/bin/true"], "agent_socket": "/s""#, "only 'ssh_agent' uses"),
        (#""socket": "/s", "env": []"#, "only 'exec' uses"),
        (#""socket": "/s", "sockett": "/s""#, "unknown member 'sockett'"),
    ]) func `settings that name no signer are refused`(
        _ members: String, _ mentions: String
    ) async throws {
        try setup.configure(try #require(JSON(text: "{\(members)}").members))
        let result = try await setup.siwa("secret")
        #expect(result.exitCode == 3 && result.errors.contains(mentions), "\(result)")
    }

    @Test func `the signer ends with siwa`() async throws {
        let marker = setup.folder.path("marker")
        try setup.configure(
            exec: try setup.script("touch \"$1\"; sleep 1000"), marker, timeout: "60s")
        let running = try setup.apple.start(
            ["secret", "--timeout", "60s"], environment: setup.environment)
        try await eventually("the signer runs") {
            FileManager.default.fileExists(atPath: marker)
        }
        running.signal(SIGTERM)
        let result = try await running.result()
        #expect(result.exitCode == 143, "\(result)")
        try await eventually("nothing of the signer runs") { Self.processes(with: marker) == [] }
    }

    /// The processes on whose command line a text is.
    private static func processes(with text: String) -> [String] {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return folders.filter { name in
            guard Int(name) != nil,
                let words = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
            else { return false }
            return String(decoding: words, as: UTF8.self).contains(text)
        }
    }
}
