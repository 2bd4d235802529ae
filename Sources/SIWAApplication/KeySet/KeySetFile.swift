internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// The file in which the key set of one origin is cached.
///
/// Users who can write to it can make siwa accept forged tokens, so siwa, like ssh, uses no file or
/// folder that others can write to.
struct KeySetFile: Sendable {
    private let files: World.Files
    private let origin: BaseURL
    /// The path without its extension.
    private let path: String

    /// - Throws: ``KeySetFileFault`` if no usable folder exists.
    init(_ network: AppleConnection) throws(KeySetFileFault) {
        files = network.session.world.files
        origin = network.baseURL
        guard let folder = UserFolders(network.session.world.variables).cache.map({ $0 + "/siwa" })
        else {
            throw KeySetFileFault("neither XDG_CACHE_HOME nor HOME names a folder")
        }
        do {
            try files.makeFolder(folder)
        } catch {
            throw KeySetFileFault(error.description)
        }
        path = "\(folder)/\(Self.name(of: network))"
    }

    /// The stored key set; nil without a file.
    package func load() throws(KeySetFileFault) -> KeySetCache? {
        let file: LocalFile
        do {
            file = try files.readRegular(path + ".json")
        } catch {
            if error.isMissing { return nil }
            throw KeySetFileFault(error.description)
        }
        guard file.status.isRegular, !file.status.isWritableByOthers else {
            throw KeySetFileFault("'\(path).json' belongs to others, or they can write to it")
        }
        guard let cache = KeySetCache(file.contents.revealed(), for: origin) else {
            throw KeySetFileFault("'\(path).json' is damaged")
        }
        return cache
    }

    package func save(_ cache: KeySetCache) throws(KeySetFileFault) {
        let bytes = cache.bytes(for: origin)
        guard bytes.count <= 1 << 20 else { throw KeySetFileFault("it is too large to be kept") }
        do {
            try files.write(SecretBytes(bytes), path + ".json", .replaced)
        } catch {
            throw KeySetFileFault(error.description)
        }
    }

    /// Nil if another process has the lock.
    package func tryLock() throws(KeySetFileFault) -> FileLock? {
        do {
            return try files.tryLock(path + ".lock")
        } catch {
            throw KeySetFileFault(error.description)
        }
    }

    /// `keys-https:appleid.apple.com`. Additional authorities are part of the name, because they
    /// may authenticate another server with the same host name, such as an emulator.
    private static func name(of network: AppleConnection) -> String {
        let url = network.baseURL.description.filter { $0 != "/" }
        let authorities = network.authorities.map { "-" + $0.text.fingerprint } ?? ""
        return "keys-\(url)\(authorities)"
    }
}

/// Why the key set cannot be stored or read.
package struct KeySetFileFault: Error, Sendable, CustomStringConvertible {
    package let message: String

    package var description: String { message }

    init(_ message: String) { self.message = message }
}
