import Foundation

/// A folder for one test, which is removed with it.
final class Folder: Sendable {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "siwa-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { name.isEmpty ? url.path() : url.path() + "/" + name }

    /// Its contents.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path())) ?? []).sorted()
    }

    func write(_ text: String, to name: String, permissions: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
        try FileManager.default.setAttributes(
            [.posixPermissions: permissions], ofItemAtPath: path(name))
    }

    func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path(name))), as: UTF8.self)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: path(name), withDestinationPath: target)
    }

    func isLink(_ name: String) throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(atPath: path(name))
        return attributes[.type] as? FileAttributeType == .typeSymbolicLink
    }
}
