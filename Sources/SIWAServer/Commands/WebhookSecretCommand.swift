internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// `siwa-server webhook-secret`: creates a secret that signs deliveries.
struct WebhookSecretCommand: Command {
    static let name = "webhook-secret"
    static let abstract =
        "Create a secret that signs deliveries, in a file that only its owner can read."
    static let discussion = """
        The file is what server.deliver.secret_file names; the application needs the same line, to \
        verify deliveries as Standard Webhooks say. An existing file is not changed.

        To replace a secret, put the new line into the file beside the old one: both sign. Give the \
        new one to the application, then remove the old line. siwa-server reads the file at SIGHUP.
        """
    static let examples = [
        Example("siwa-server webhook-secret --out /var/lib/siwa/webhook.secret", "Create a secret.")
    ]
    static let parameters: [Parameter<Self>] = [
        .option("out", \.$file, value: "FILE", help: "The file to create.", completion: .file)
    ]

    @Required var file: String

    func run(in world: ServerWorld) async throws {
        guard file != "-" else {
            throw UsageError.Problem.misuse(
                "--out needs a file",
                hint: "give a new file in a folder that this user can write to")
        }
        let line = try WebhookSecrets.newLine()
        do {
            try world.base.files.create(line, file)
        } catch {
            throw Diagnosis(error)
        }
    }
}
