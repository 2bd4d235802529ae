internal import SIWACrypto
internal import SIWALifecycle
package import SIWASystem

/// A fault of a file with settings, keys or a vault: users who can write it control siwa, and users
/// who can read a key have it.
enum FileFault: String, Sendable {
    case isForeign = "belongs to another user"
    case isWritable = "can be written by others"
    case isReadable = "can be read by others"

    /// Nil if the file is safe.
    ///
    /// - Parameters:
    ///   - isSecret: whether other users must not read it.
    ///   - world: a file in its `$CREDENTIALS_DIRECTORY`, which the service manager created for
    ///     this process, is accepted.
    init?(of status: FileStatus, at path: String, isSecret: Bool, in world: World) {
        guard status.isRegular, !world.isCredential(path) else { return nil }
        if status.isForeign {
            self = .isForeign
        } else if status.isWritableByOthers {
            self = .isWritable
        } else if isSecret, status.isReadableByOthers {
            self = .isReadable
        } else {
            return nil
        }
    }

    /// What fixes it.
    package func remedy(for path: String) -> String {
        switch self {
        case .isForeign: remedyForOwner(of: path, or: "a file of your own")
        case .isWritable: "chmod go-w \(path)"
        case .isReadable: "chmod 600 \(path)"
        }
    }
}

extension World {
    /// Whether the service manager created the file at a path for this process.
    package func isCredential(_ path: String) -> Bool {
        guard var folder = nonEmpty(variables("CREDENTIALS_DIRECTORY")), folder.hasPrefix("/")
        else { return false }
        while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
        return files.isSameFolder(SIWAApplication.folder(of: path), folder)
    }

    /// The credential that is named for a Key ID; nil if there is none.
    func credential(ofKey keyID: String) -> String? {
        guard let folder = nonEmpty(variables("CREDENTIALS_DIRECTORY")),
            !keyID.contains("/" as Character)
        else { return nil }
        let path = "\(folder)/AuthKey_\(keyID).p8"
        return isCredential(path) && files.exists(path) ? path : nil
    }

    /// The variable with the path of the key; nil if it is not set.
    ///
    /// A credential that is missing, or `none`, is as good as no variable: the shipped units set it
    /// on hosts without a key, too.
    var privateKeyFile: String? {
        guard let path = nonEmpty(variables("SIWA_PRIVATE_KEY_FILE")) else { return nil }
        guard isCredential(path) else { return path }
        do throws(FileError) {
            let text = firstLine(try files.read(path).contents)
            let isMarked = text.count <= 4 && ["", "none"].contains(SecretText(text).revealed())
            return isMarked ? nil : path
        } catch {
            return error.isMissing ? nil : path
        }
    }
}

/// A warning about a file that others can write or read.
package struct FileWarning: Sendable {
    package let message: String
    package let remedy: String

    /// - Parameter name: the name of the file in messages, such as `the private key`.
    package init?(
        _ name: String, _ path: String, _ status: FileStatus?, isSecret: Bool, in world: World
    ) {
        guard let status,
            let fault = FileFault(of: status, at: path, isSecret: isSecret, in: world)
        else { return nil }
        message = "\(name) \(path) \(fault.rawValue)"
        remedy = fault.remedy(for: path)
    }

    package var text: String { "\(message); \(remedy)" }

    /// The error under `--strict`.
    package func refused(_ subject: SettingsError.Subject) -> SettingsError {
        SettingsError(subject, message, hints: [remedy])
    }
}

extension Session {
    /// Refuses, under `--strict`, an output that root would create in a folder of another user, who
    /// could not open it.
    package func examineOutput(_ path: String?) throws(FileError) {
        guard settings.isStrict.value, let path else { return }
        try world.files.requireOwnFolder(path)
    }

    /// Warns of a file that others can write or read; refuses it under `--strict`.
    package func examine(
        _ warning: FileWarning?, _ subject: SettingsError.Subject
    ) throws(SettingsError) {
        guard let warning else { return }
        guard !settings.isStrict.value else { throw warning.refused(subject) }
        console.warn(warning.text)
    }
}
