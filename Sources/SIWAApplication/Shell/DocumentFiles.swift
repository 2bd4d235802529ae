package import SIWACommandTable
internal import SIWACrypto
package import SIWASystem

extension World.Files {
    /// Writes documents into a folder, all or none of them; returns their paths.
    package func write(
        _ documents: [ToolDocument], into folder: String
    ) throws(FileError) -> [String] {
        try writeAll(
            documents.map { NamedContents($0.fileName, SecretBytes($0.text.utf8)) }, folder)
        return documents.map { "\(folder)/\($0.fileName)" }
    }
}
