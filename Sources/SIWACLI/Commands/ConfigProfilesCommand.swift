internal import SIWAApplication
internal import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa config profiles`: the names that `--profile` accepts.
struct ConfigProfilesCommand: Command {
    static let name = "config profiles"
    static let abstract = "List the profiles of the configuration, one per line."
    static let parameters = GlobalOptions.parameters(at: \Self.global)

    var global = GlobalOptions()

    func run(in world: World) async throws {
        let file = try ConfigurationPath(global.placed, in: world).load()
        let names = file?.profileNames ?? []
        guard !names.isEmpty else {
            throw Diagnosis.negative(
                .noProfiles, "there are no profiles",
                hints: ["'siwa init' writes a configuration; 'siwa config path' says where it is"])
        }
        try world.report(
            Report(
                [
                    "profiles": .array(names.map { .string($0) }),
                    "default_profile": file?.defaultProfile.map { .string($0) } ?? .null,
                ], text: SecretText(names.joined(separator: "\n"))), global.output)
    }
}
