internal import AppleEmulator
internal import LocalFiles
internal import SIWACrypto
internal import SignInWithApple

/// The folder of one emulator, and the names of what stands in it.
struct Folder {
    static let configuration = "config.json"
    static let emulator = "emulator.json"
    /// Where the emulator of this folder listens, while it does.
    static let server = "server.url"

    let path: String

    func path(_ name: String) -> String { "\(path)/\(name)" }

    func read(_ name: String) throws(FileError) -> [UInt8] {
        // A rehearsal of a transfer has as many users as the app.
        try readFile(path(name), limit: 64 << 20).contents.revealed()
    }

    /// Secrets are for the owner alone, everything else is for everybody.
    func write(_ contents: [UInt8], _ name: String, isSecret: Bool = false) throws(FileError) {
        try writeFile(SecretBytes(contents), to: path(name), permissions: isSecret ? 0o600 : 0o644)
    }

    /// Where the emulator of this folder listens.
    func serverURL() throws -> String {
        let name = path(Self.server)
        guard fileExists(name),
            let url = String(decoding: try read(Self.server), as: UTF8.self)
                .split(separator: "\n").first
        else {
            throw Failure.settings(
                "no emulator serves '\(path)'",
                hints: ["start it: siwa-emulator serve \(path)", "or name another with --url"])
        }
        return String(url)
    }

    /// What `emulator.json` says: the configuration, and the port of `init`.
    func emulator() throws -> (configuration: EmulatorConfiguration, port: UInt16) {
        let name = path(Self.emulator)
        guard fileExists(name) else {
            throw Failure.settings(
                "there is no '\(name)'", hints: ["make it: siwa-emulator init \(path)"])
        }
        do {
            var members = try JSON(read(Self.emulator)).members ?? []
            let port = members.first { $0.name == "port" }?.value.integer
            members.removeAll { $0.name == "port" }
            let configuration = try EmulatorConfiguration(json: .object(members))
            return (configuration, port.flatMap(UInt16.init(exactly:)) ?? 9443)
        } catch let error as JSONError {
            throw Failure.settings("'\(name)' \(error)", hints: ["mend it, or make it anew"])
        } catch let error as ShapeError {
            throw Failure.settings("'\(name)': \(error)", hints: ["mend it, or make it anew"])
        }
    }
}
