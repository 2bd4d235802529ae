import SIWACrypto
import SIWAEmulator
import SIWAJOSE
import SIWALifecycle
import Testing

/// One thing wrong with an `emulator.json`.
struct SpoiledConfiguration: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let find: String
    let replace: String
    let message: String
}

@Suite struct ConfigurationTests {
    static let rows = [
        SpoiledConfiguration(
            testDescription: "short Team ID", find: "A1B2C3D4E5", replace: "A1B2",
            message: "'team_id' must be a Team ID: ten letters and digits"),
        SpoiledConfiguration(
            testDescription: "unknown member", find: #""team_id""#, replace: #""team""#,
            message:
                "'team' is not known; known are team_id, clients, keys, recipient, users, switches"),
        SpoiledConfiguration(
            testDescription: "unknown kind", find: #""kind":"web""#, replace: #""kind":"site""#,
            message: "clients[1]: 'kind' must be one of 'app', 'web'"),
        SpoiledConfiguration(
            testDescription: "redirects that are no list",
            find:
                #"["https://example.com/callback","https://example.com/callback?from=apple","http://127.0.0.1:8000/callback"]"#,
            replace: "true",
            message: "clients[1]: 'redirect_uris' must be an array, each"),
        SpoiledConfiguration(
            testDescription: "another curve", find: "P-256", replace: "P-384",
            message: "keys[0]: must be a JSON Web Key with kty EC and crv P-256"),
        SpoiledConfiguration(
            testDescription: "no point", find: #""x":""#, replace: #""x":"AAAA"#,
            message: "keys[0]: 'x' must be 32 bytes in base64url"),
        SpoiledConfiguration(
            testDescription: "no sub", find: #""sub":"001234.0123456789abcdef.0830","#, replace: "",
            message: "users.alice: 'sub' is missing"),
    ]

    @Test(arguments: rows) func `an invalid configuration is refused with the reason`(
        _ row: SpoiledConfiguration
    ) throws {
        let good = try configuration().json.text
        #expect(good.contains(row.find))
        let spoiled = try JSON(
            text: good.replacing(row.find, with: row.replace, maxReplacements: 1))
        let error = #expect(throws: ShapeError.self) { try EmulatorConfiguration(json: spoiled) }
        #expect(error?.description.hasPrefix(row.message) == true, "\(String(describing: error))")
    }

    @Test func `a written configuration is read back unchanged`() throws {
        let written = try configuration().json
        let read = try EmulatorConfiguration(json: written)
        #expect(read.json == written)
        #expect(read.users == EmulatorHarness.users)
    }

    @Test func `the emulator starts with the switches that its configuration sets`() throws {
        var members = try #require(try configuration().json.members)
        members.append(JSON.Member("switches", ["order": "client_first"]))
        let behaviors = try EmulatorConfiguration(json: .object(members)).behaviors
        #expect(behaviors != Behaviors())
    }

    @Test func `invented user ids have the recorded shape`() {
        for _ in 0..<200 {
            let userID = EmulatedUser.freshUserID().rawValue
            #expect(userID.wholeMatch(of: EmulatorHarness.identifierShape) != nil, "\(userID)")
        }
    }

    private func configuration() throws -> EmulatorConfiguration {
        EmulatorHarness.configuration(key: try P256PrivateKey.generate().publicKey)
    }
}
