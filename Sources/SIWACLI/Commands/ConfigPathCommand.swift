internal import SIWAApplication
internal import SIWACommandTable
internal import SIWAJOSE
internal import SIWALifecycle

/// `siwa config path`: which configuration file is in use.
struct ConfigPathCommand: Command {
    static let name = "config path"
    static let abstract = "Print the path of the configuration file in use."
    static let parameters = GlobalOptions.parameters(at: \Self.global)

    var global = GlobalOptions()

    func run(in world: World) async throws {
        let place = ConfigurationPath(global.placed, in: world)
        for warning in UserFolders(world.variables).warnings + (place.warning.map { [$0] } ?? []) {
            Console(world, global.output).warn(warning)
        }
        guard let path = place.path else {
            throw Diagnosis.negative(
                .noConfiguration, "there is no configuration file",
                hints: ConfigurationPath.usual(world.variables).map { "not found: \($0)" }
                    + ["name it with --config or SIWA_CONFIG; 'siwa init' writes one"])
        }
        let shown = world.words.shown(path.value)
        try world.report(
            Report(
                ["path": .string(shown), "origin": .string(path.origin.description)],
                text: SecretText(shown)), global.output)
    }
}
