internal import SIWACrypto
internal import SIWAEmulator
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// The contents of a new folder: a team with one key, an app and a website, users, and another team
/// that the clients can be transferred to.
struct NewFolder {
    private static let callback = "https://example.com/callback"
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")

    /// A team with its private key.
    struct Team {
        let teamID = TeamID(unchecked: tenCharacters())
        let keyID = KeyID(unchecked: tenCharacters())
        let key: P256PrivateKey

        init() throws(OpenSSLError) { key = try P256PrivateKey.generate() }

        var keyName: String { "AuthKey_\(keyID).p8" }
        var publicHalf: EmulatedKey { EmulatedKey(keyID: keyID, publicKey: key.publicKey) }
    }

    let team: Team
    let recipient: Team
    let port: UInt16

    init(port: UInt16) throws(OpenSSLError) {
        team = try Team()
        recipient = try Team()
        self.port = port
    }

    /// In a separate folder: next to the first key, it would be reported as a possible cause of
    /// every refusal.
    var recipientsKey: String { "\(Self.recipientsFolder)/\(recipient.keyName)" }
    private static let recipientsFolder = "recipient"

    /// Writes all files without overwriting any, because a lost key cannot be restored.
    func write(to folder: Folder, now: Int) throws {
        for name in [team.keyName, recipientsKey, Folder.configuration, Folder.emulator]
            + TLSFiles.names
        {
            guard !fileExists(folder.path(name)) else {
                throw Failure.settings(
                    "'\(folder.path(name))' exists already",
                    hints: ["name another folder, or remove this one first"])
            }
        }
        if !fileExists(folder.path) { try createDirectory(folder.path) }
        if !fileExists(folder.path(Self.recipientsFolder)) {
            try createDirectory(folder.path(Self.recipientsFolder))
        }
        for (key, name) in [(team.key, team.keyName), (recipient.key, recipientsKey)] {
            try folder.write(key.pemRepresentation().revealed(), name, isSecret: true)
        }
        try TLSFiles(folder: folder).renew(now: now)
        try folder.write(Array((settings.indentedText + "\n").utf8), Folder.configuration)
        try folder.write(Array((emulator.indentedText + "\n").utf8), Folder.emulator)
    }

    /// The configuration of siwa.
    private var settings: JSON {
        let web: [JSON.Member] = [
            JSON.Member("redirect_uri", .string(Self.callback)),
            JSON.Member("audiences", ["com.example.app", "com.example.web"]),
        ]
        return [
            "default_profile": "app",
            "profiles": [
                "app": profile("com.example.app", team, team.keyName),
                "web": profile("com.example.web", team, team.keyName, web),
                "recipient": profile("com.example.app", recipient, recipientsKey),
            ],
        ]
    }

    private func profile(
        _ client: String, _ team: Team, _ keyPath: String, _ extra: [JSON.Member] = []
    ) -> JSON {
        .object(
            [
                JSON.Member("team_id", .string(team.teamID.rawValue)),
                JSON.Member("client_id", .string(client)),
                JSON.Member("key_id", .string(team.keyID.rawValue)),
                JSON.Member("private_key", .string(keyPath)),
            ] + extra + [
                JSON.Member("base_url", .string("https://localhost:\(port)")),
                JSON.Member("ca_file", .string(TLSFiles.authority)),
            ])
    }

    private var emulator: JSON {
        let configuration = EmulatorConfiguration(
            teamID: team.teamID,
            clients: [
                EmulatedClient(clientID: ClientID(unchecked: "com.example.app"), kind: .app),
                EmulatedClient(
                    clientID: ClientID(unchecked: "com.example.web"), kind: .web,
                    redirectURIs: [Self.callback]),
            ],
            keys: [team.publicHalf], users: Self.people(),
            recipient: EmulatedTeam(teamID: recipient.teamID, keys: [recipient.publicHalf]))
        let port = JSON.Member("port", .integer(Int(port)))
        return .object([port] + (configuration.json.members ?? []))
    }

    /// A user with an address, one with only a relay address, and one without an address.
    private static func people() -> [EmulatedUser] {
        [
            EmulatedUser(
                name: "alice", userID: EmulatedUser.freshUserID(), firstName: "Alice",
                lastName: "Archer", email: "alice@example.com",
                realUserStatus: 2),
            EmulatedUser(
                name: "bob", userID: EmulatedUser.freshUserID(), firstName: "Bob",
                lastName: "Baker",
                email: "x7k2m9q4zt@privaterelay.appleid.com", isPrivateEmail: true,
                realUserStatus: 1),
            EmulatedUser(
                name: "carol", userID: EmulatedUser.freshUserID(), firstName: "Carol",
                lastName: "Cooper"),
        ]
    }

    /// A Team ID or Key ID in Apple's format.
    private static func tenCharacters() -> String {
        String((0..<10).map { _ in alphabet[Int.random(in: alphabet.indices)] })
    }
}
