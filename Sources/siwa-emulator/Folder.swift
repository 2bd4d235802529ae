internal import SIWACrypto
internal import SIWAEmulator
internal import SIWAJOSE
internal import SIWASystem

/// The folder of one emulator, and the names of its files.
struct Folder {
    static let configuration = "config.json"
    static let emulator = "emulator.json"
    /// The file with the URL of the folder's emulator while it runs.
    static let server = "server.url"

    let path: String

    func path(_ name: String) -> String { "\(path)/\(name)" }

    func read(_ name: String) throws(FileError) -> [UInt8] {
        // The limit is large, because a rehearsal of a transfer has as many users as the app.
        try readFile(path(name), limit: 64 << 20).contents.revealed()
    }

    /// Only the owner can read secrets; all users can read the other files.
    func write(_ contents: [UInt8], _ name: String, isSecret: Bool = false) throws(FileError) {
        try writeFile(SecretBytes(contents), to: path(name), permissions: isSecret ? 0o600 : 0o644)
    }

    /// The URL of the folder's emulator; nil if it is not running.
    func serverURL() throws -> String? {
        guard fileExists(path(Self.server)) else { return nil }
        return String(decoding: try read(Self.server), as: UTF8.self)
            .split(separator: "\n").first.map(String.init)
    }

    /// The content of `emulator.json`: the configuration, and the port of `init`.
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
            throw Failure.settings(
                "'\(name)' \(error)",
                hints: ["fix it, or make a new folder: siwa-emulator init DIR"])
        } catch let error as ShapeError {
            throw Failure.settings(
                "'\(name)': \(error)",
                hints: ["fix it, or make a new folder: siwa-emulator init DIR"])
        }
    }
}
