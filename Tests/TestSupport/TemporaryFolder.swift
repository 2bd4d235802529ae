import Foundation

/// A new folder, which is removed with its contents when its last owner is released.
package final class TemporaryFolder: Sendable {
    /// Its path.
    package let path: String

    /// Makes the folder, for this user alone.
    package init() throws {
        var template = Array("/tmp/siwa-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemFailure("mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file into it, and into folders of it that are made if the name has them; returns
    /// the file's path.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = self.path(name)
        if let slash = path.lastIndex(of: "/"), name.contains("/") {
            try FileManager.default.createDirectory(
                atPath: String(path[..<slash]), withIntermediateDirectories: true)
        }
        try Descriptor(path: path, O_WRONLY | O_CREAT | O_TRUNC).write(bytes)
        return path
    }

    /// Writes a text into it, and answers the file's path.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> String {
        try write(name, Array(text.utf8))
    }

    /// The path of a file in it.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// The contents of a file in it.
    package func contents(_ name: String) throws -> [UInt8] {
        try Descriptor(path: path(name), O_RDONLY).contents()
    }
}
