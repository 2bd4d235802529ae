internal import SIWACommandTable
internal import SIWASystem

/// `siwa-emulator init`: creates a folder with the files of an emulator and its clients.
struct InitEmulatorCommand: Command {
    static let name = "init"
    static let abstract = "Create a folder with a key, settings for siwa, and a certificate."
    static let discussion = """
        Existing files are never overwritten: if one exists, init names it and changes nothing.

        Edit emulator.json to have other clients, keys and users; siwa public-key --format jwk \
        prints a key in the form used there.
        """
    static let examples = [
        Example("siwa-emulator init ~/apple", "Create the folder ~/apple."),
        Example("siwa-emulator init ~/apple --port 9500", "Have siwa expect another port."),
    ]
    static let parameters: [Parameter<Self>] = [
        .operand("DIR", \.$folder, help: "The folder to create.", completion: .directory),
        .option(
            "port", \.port, value: "N", help: "The port that config.json has siwa connect to."),
    ]

    @Required var folder: String
    var port = PortNumber(9443)

    func run(in world: EmulatorWorld) async throws {
        guard port.number > 0 else {
            throw Failure.usage(
                "config.json must name a port",
                hints: ["only 'serve --port' accepts 0, for any free port"])
        }
        let folder = Folder(path: folder)
        let made = try NewFolder(port: port.number)
        try made.write(to: folder, now: secondsSinceEpoch())
        try world.print(Self.summary(made, folder.path))
    }

    private static func summary(_ made: NewFolder, _ path: String) -> String {
        """
        made \(path)
          \(made.team.keyName)  the private key of team \(made.team.teamID)
          recipient/             that of team \(made.recipient.teamID), to transfer the app to
          config.json            settings for siwa: profiles app, web and recipient
          emulator.json          what the emulator knows: clients, public keys, users
          ca.pem                 what clients must trust
          server.pem             what the emulator shows them, with server-key.pem

        next:
          siwa-emulator serve \(path) --tls
          export SIWA_CONFIG=\(path)/config.json
          curl --cacert \(path)/ca.pem https://localhost:\(made.port)/emulator/codes \\
            -d '{"client_id":"com.example.app"}'
          siwa exchange --code CODE

        to check that a backend of yours refuses what it must:
          siwa-emulator conform backend.json --dir \(path)

        """
    }
}
