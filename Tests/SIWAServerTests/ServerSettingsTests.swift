import SIWAHTTPServer
import SIWAJOSE
import SIWAServerRecords
import Testing

@testable import SIWAApplication
@testable import SIWAServer

@Suite struct ServerSettingsTests {
    private func settings(_ json: JSON) throws -> ServerSettings {
        try ServerSettings(json, in: "/etc/siwa/config.json") { "/etc/siwa/" + $0 }
    }

    @Test func `every member is read`() throws {
        let settings = try settings([
            "notifications": [
                "listen": "0.0.0.0:443", "path": "/a",
                "tls": ["certificate": "c.pem", "key": "k.pem"],
            ],
            "api": ["listen": "unix:api.sock", "group": "web"],
            "metrics": ["listen": "[::1]:9765", "behind_proxy": true],
            "deliver": ["url": "https://example.com/x", "secret_file": "s"],
            "keep": "7d", "max_secret_lifetime": "1d", "log_user_ids": false,
            "jwks_file": "keys.json", "validate": ["every": "12h", "rate": "2/s"],
        ])
        #expect(settings.validation?.interval == .seconds(43_200))
        #expect(settings.validation?.perSecond == 2)
        #expect(settings.notifications?.address == .tcp(host: "0.0.0.0", port: 443))
        #expect(settings.notifications?.tls?.certificate == "/etc/siwa/c.pem")
        #expect(settings.path == "/a")
        #expect(settings.api?.address == .unix(path: "/etc/siwa/api.sock", group: "web"))
        #expect(settings.metrics?.address == .tcp(host: "::1", port: 9765))
        #expect(settings.metrics?.isBehindProxy == true)
        #expect(settings.delivery?.secretFile == "/etc/siwa/s")
        #expect(settings.keep == .seconds(7 * 86_400))
        #expect(settings.maxSecretLifetime == .seconds(86_400))
        #expect(!settings.logsUserIDs && settings.keySetFile == "/etc/siwa/keys.json")
    }

    @Test func `tokens are validated only if that is set, once a day unless set otherwise`() throws
    {
        #expect(try settings([:]).validation == nil)
        let validation = try settings(["validate": [:]]).validation
        #expect(validation?.interval == .seconds(86_400) && validation?.perSecond == 5)
        #expect(validation?.warning == nil)
        #expect(try settings(["validate": ["every": "1h"]]).validation?.warning != nil)
        for wrong: JSON in [
            ["every": "1s"], ["every": "31d"], ["rate": "0/s"], ["rate": "many"], ["rat": "1/s"],
        ] {
            #expect(throws: Diagnosis.self) { try settings(["validate": wrong]) }
        }
    }

    @Test func `a listener without settings is not opened`() throws {
        let settings = try settings(["api": ["listen": "systemd:api"]])
        #expect(settings.notifications == nil && settings.metrics == nil)
        #expect(settings.api?.address == .inherited(name: "api"))
    }

    @Test(
        arguments: [
            (["listen": "127.0.0.1"], "server.api.listen '127.0.0.1' is not HOST:PORT"),
            (["listen": "localhost:80"], "server.api.listen 'localhost:80' is not HOST:PORT"),
            (["listen": "127.0.0.1:65536"], "server.api.listen"),
            (["listen": "unix:"], "server.api.listen 'unix:' is not"),
            (
                ["listen": "127.0.0.1:1", "group": "web"],
                "server.api.group can only be used with unix"
            ),
            (
                ["listen": "unix:/a", "tls": ["certificate": "a", "key": "b"]],
                "server.api.tls cannot be used"
            ),
            (
                ["listen": "127.0.0.1:1", "tls": ["certificate": "a"]],
                "server.api.tls.key is not set"
            ),
            (["listen": "127.0.0.1:1", "path": "/a"], "server.api has an unknown member 'path'"),
            (["listen": 1], "server.api.listen must be a string"),
            ("x", "server.api must be an object"),
        ] as [(JSON, String)])
    func `an error names the invalid member`(_ api: JSON, _ words: String) throws {
        let error = #expect(throws: Diagnosis.self) { try settings(["api": api]) }
        #expect(error?.message.hasPrefix(words) == true, "\(error?.message ?? "")")
        #expect(error?.exitCode == .settings)
    }

    @Test(arguments: ["systemd:a", "unix:a.sock", "127.0.0.1:1"])
    func `two listeners cannot use one socket`(_ address: String) throws {
        let listener: JSON = ["listen": .string(address)]
        let error = #expect(throws: Diagnosis.self) {
            try settings(["notifications": listener, "api": listener])
        }
        #expect(
            error?.message == "server.api.listen is also that of server.notifications",
            "\(error?.message ?? "")")
        _ = try settings(["api": ["listen": "127.0.0.1:0"], "metrics": ["listen": "127.0.0.1:0"]])
    }

    @Test func `finished revocations are delivered, kept or not recorded, as configured`() throws {
        let url: [JSON.Member] = [.init("url", "https://a/"), .init("secret_file", "s")]
        let on = JSON.Member("revocations", true)
        #expect(try settings([:]).revocationEvents == .off)
        #expect(try settings(["deliver": .object(url)]).revocationEvents == .off)
        #expect(try settings(["deliver": .object(url + [on])]).revocationEvents == .delivered)
        let kept = try settings(["deliver": .object([on])])
        #expect(kept.revocationEvents == .kept && kept.delivery == nil)
        #expect(try kept.needsRestart(from: settings([:])))
        #expect(throws: Diagnosis.self) { try settings(["deliver": ["revocations": false]]) }
        #expect(throws: Diagnosis.self) { try settings(["deliver": ["revocations": 1]]) }
    }

    @Test func `only settings that a reload does not apply need a restart`() throws {
        let deliver: JSON = ["url": "https://example.com/a", "secret_file": "s"]
        let api: JSON = ["listen": "unix:a"]
        let old = try settings(["api": api, "deliver": deliver, "jwks_file": "a"])
        #expect(!old.needsRestart(from: old))
        let reloaded = try settings([
            "api": api, "jwks_file": "b",
            "deliver": ["url": "https://example.com/b", "secret_file": "t", "ca_file": "c"],
        ])
        #expect(!reloaded.needsRestart(from: old))
        for changed in [
            ["api": ["listen": "unix:b"], "deliver": deliver, "jwks_file": "a"],
            ["api": api, "jwks_file": "a"], ["api": api, "deliver": deliver],
            ["api": api, "deliver": deliver, "jwks_file": "a", "keep": "7d"],
        ] as [JSON] {
            let new = try settings(changed)
            #expect(new.needsRestart(from: old) && old.needsRestart(from: new), "\(changed)")
        }
    }

    @Test func `max_in_flight is at least 1 and at most 4096`() throws {
        func limit(_ more: [JSON.Member]) throws -> Int? {
            let deliver: [JSON.Member] = [
                .init("url", "https://example.com/a"), .init("secret_file", "s"),
            ]
            return try settings(["deliver": .object(deliver + more)]).delivery?.maxInFlight
        }
        #expect(try limit([]) == 256)
        #expect(try limit([.init("max_in_flight", 1)]) == 1)
        for odd: JSON in [0, 4097, -1, .number("1.5"), "256", .null] {
            let error = #expect(throws: Diagnosis.self) {
                _ = try limit([.init("max_in_flight", odd)])
            }
            #expect(
                error?.message.hasPrefix("server.deliver.max_in_flight must be") == true, "\(odd)")
        }
    }

    @Test func `root on the service's machine is told to ask as the service`() throws {
        let settings = try settings([:])
        func hint(_ words: ServiceWords) -> String? {
            let error = #expect(throws: Diagnosis.self) {
                _ = try settings.stateFolder(vaultFile: nil, { _ in nil }, words: words)
            }
            return error?.hints.first.map(words.shown)
        }
        #expect(
            hint(ServiceWords(isService: true))
                == "ask as the service: siwa-admin siwa-server check"
        )
        #expect(hint(.none)?.hasPrefix("add \"server\"") == true)
        // The service itself.
        #expect(
            hint(ServiceWords(copies: "/run/c/", isService: true))?.hasPrefix("add \"server\"")
                == true)
    }

    @Test func `settings without a listener have a warning`() throws {
        let deliver: JSON = ["url": "https://example.com/a", "secret_file": "s"]
        #expect(try settings(["deliver": deliver]).withoutListeners != nil)
        #expect(
            try settings(["deliver": deliver, "api": ["listen": "unix:a"]]).withoutListeners == nil)
    }

    @Test func `without protection, only loopback addresses and Unix sockets are accepted`() throws
    {
        for isLocal in [true, false] {
            let settings = ListenerSettings(.tcp(host: "0.0.0.0", port: 1))
            if isLocal {
                try settings.checkProtection(isLocal: true, of: .metrics)
            } else {
                #expect(throws: Diagnosis.self) {
                    try settings.checkProtection(isLocal: false, of: .metrics)
                }
            }
        }
    }
}
