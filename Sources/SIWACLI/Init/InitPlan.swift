internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// The files that `siwa init` writes.
struct InitPlan: Sendable {
    let path: String
    let key: InitialKey
    let settings: InitialSettings
    /// The configuration that is changed; nil if a new one is written.
    let old: ReplacedConfiguration?
    let isForServer: Bool

    private var text: SecretBytes {
        SecretBytes(((old?.json ?? settings.json).indentedText + "\n").utf8)
    }

    /// The link to the key that the units name; nil if no service uses it, or a signer has the key.
    var credential: String? {
        isForServer && key.text != nil
            ? "\(folder(of: path))/\(ServiceFiles.credential)" : nil
    }

    /// The world as it will be when the files are written.
    func preview(of world: World) -> World {
        var preview = world
        var files: [String: SecretBytes] = [path: text]
        files[key.target] = key.text
        let written = files
        let read = { @Sendable (name: String) -> LocalFile? in
            written[name].map {
                LocalFile(contents: $0, status: FileStatus(permissions: 0o600))
            }
        }
        preview.files.read = { name throws(FileError) in
            if let file = read(name) { return file }
            return try world.files.read(name)
        }
        preview.files.readRegular = { name throws(FileError) in
            if let file = read(name) { return file }
            return try world.files.readRegular(name)
        }
        preview.files.exists = { written[$0] != nil || world.files.exists($0) }
        preview.files.status = { read($0)?.status ?? world.files.status($0) }
        let (credential, target) = (credential, key.target)
        preview.files.resolvedPath = {
            $0 == credential ? world.files.resolvedPath(target) : world.files.resolvedPath($0)
        }
        return preview
    }

    /// Writes the configuration last, so that an interrupted run can be repeated.
    func write(in world: World, _ console: Console) throws {
        try world.files.makeFolder(folder(of: path))
        try world.ending.completing {
            let isCopied = try key.write(in: world)
            do {
                try writeConfiguration(in: world)
                if let credential { try world.files.link("AuthKey_\(key.keyID).p8", credential) }
            } catch {
                // A configuration that was not written leaves no copy of the key behind.
                if isCopied, !world.files.exists(path) { try? world.files.remove(key.target) }
                throw error
            }
        }
        if case .file(let original) = key.source, original != key.target {
            console.note("the key was copied to \(key.target); keep \(original) in a safe place")
        }
    }

    // Not inlined: an optimized build of Swift 6.3 fails where this typed error and an untyped one
    // leave the same closure.
    @inline(never)
    private func writeConfiguration(in world: World) throws {
        guard old == nil else { return try world.files.write(text, path, .followed) }
        do throws(FileError) {
            try world.files.create(text, path)
        } catch {
            guard error.isTaken else { throw error }
            throw SettingsError(
                "something is at \(path) already, such as a link to a file that does not exist",
                hints: ["remove it, or write another configuration with --config FILE"])
        }
    }
}
