internal import SIWACrypto
internal import Synchronization

/// Lines that are kept on disk until they are needed, because a pipe cannot be read again and
/// memory is limited.
///
/// Lines contain tokens, so they are encrypted with a key that only this process has. The file has
/// no name, so that it disappears with the process. A small number of lines needs no file.
package final class SpoolFile: Sendable {
    private let spool: Mutex<Spool>

    /// Creates an empty spool.
    ///
    /// - Parameter folder: the folder of the file, which is created when it is needed, such as
    ///   `/tmp`.
    package init(in folder: String) { spool = Mutex(Spool(folder: folder)) }

    /// Appends a line.
    ///
    /// - Throws: ``FileError``.
    package func append(_ line: InputLine) throws(FileError) {
        try spool.withLock { spool throws(FileError) in try spool.append(line) }
    }

    /// Takes the next lines, in the order in which they were added; empty after the last one.
    ///
    /// - Throws: ``FileError``.
    package func take() throws(FileError) -> [InputLine] {
        try spool.withLock { spool throws(FileError) in try spool.take() }
    }
}

/// Groups of lines, each encrypted as one text after its length; the last group is in memory.
private struct Spool: ~Copyable {
    private let folder: String
    private var file: SpoolStore?
    private var group: [InputLine] = []
    private var groupSize = 0

    private static let mostInGroup = 1 << 16

    init(folder: String) { self.folder = folder }

    mutating func append(_ line: InputLine) throws(FileError) {
        group.append(line)
        groupSize += line.recordLength
        guard groupSize >= Self.mostInGroup else { return }
        var text = SecretBuffer(capacity: groupSize)
        for line in group { line.append(to: &text) }
        if file == nil { file = try SpoolStore(in: folder) }
        try file?.write(text.finished())
        (group, groupSize) = ([], 0)
    }

    mutating func take() throws(FileError) -> [InputLine] {
        if let text = try file?.read() { return text.withSpan(InputLine.lines(in:)) }
        defer { (group, groupSize) = ([], 0) }
        return group
    }
}

/// Encrypted texts in a file.
private final class SpoolStore {
    private let file: UnlinkedFile
    private let folder: String
    private let key: AESGCM.Key
    private var taken = 0

    init(in folder: String) throws(FileError) {
        self.folder = folder
        key = try Self.newKey(folder)
        file = try UnlinkedFile(in: folder)
    }

    private static func newKey(_ folder: String) throws(FileError) -> AESGCM.Key {
        do throws(OpenSSLError) {
            return AESGCM.Key(try Random.secret(AESGCM.keyLength))
        } catch {
            throw FileError("create", folder, reason: "\(error)")
        }
    }

    func write(_ text: SecretBytes) throws(FileError) {
        let sealed: [UInt8]
        do throws(OpenSSLError) {
            sealed = try AESGCM.seal(text, with: key, authenticating: bytes(of: file.size))
        } catch {
            throw FileError("write", folder, reason: "\(error)")
        }
        try file.append(bytes(of: sealed.count) + sealed)
    }

    /// The next text; nil after the last one.
    func read() throws(FileError) -> SecretBytes? {
        guard taken < file.size else { return nil }
        let count = try file.read(8, at: taken).reduce(0) { $0 << 8 | Int($1) }
        guard (1...file.size - taken).contains(count) else { throw file.damaged }
        let sealed = try file.read(count, at: taken + 8)
        let text: SecretBytes?
        do throws(OpenSSLError) {
            text = try AESGCM.open(sealed, with: key, authenticating: bytes(of: taken))
        } catch {
            throw FileError("read", folder, reason: "\(error)")
        }
        guard let text else { throw file.damaged }
        taken += 8 + count
        return text
    }
}

// The encoding of a line in a group: its number, its length, its bytes.
extension InputLine {
    /// The length of a line without bytes.
    private static var noBytes: Int { -1 }

    fileprivate var recordLength: Int { 16 + (bytes?.count ?? 0) }

    fileprivate func append(to text: inout SecretBuffer) {
        text.append(contentsOf: SIWASystem.bytes(of: number))
        text.append(contentsOf: SIWASystem.bytes(of: bytes?.count ?? Self.noBytes))
        bytes?.withUnsafeBytes { text.append(contentsOf: $0) }
    }

    fileprivate static func lines(in text: Span<UInt8>) -> [InputLine] {
        var lines: [InputLine] = []
        var place = 0
        while place < text.count {
            let number = integer(in: text, at: place)
            let count = integer(in: text, at: place + 8)
            place += 16
            guard count != noBytes else {
                lines.append(InputLine(number: number, bytes: nil))
                continue
            }
            var line = SecretBuffer(capacity: count)
            line.append(contentsOf: text.extracting(place..<place + count))
            lines.append(InputLine(number: number, bytes: line.finished()))
            place += count
        }
        return lines
    }
}

private func bytes(of integer: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt64(bitPattern: Int64(integer)).bigEndian, Array.init)
}

/// Reads an integer that ``bytes(of:)`` encoded.
private func integer(in bytes: Span<UInt8>, at place: Int) -> Int {
    let value = (place..<place + 8).reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64(bytes[$1]) }
    return Int(Int64(bitPattern: value))
}
