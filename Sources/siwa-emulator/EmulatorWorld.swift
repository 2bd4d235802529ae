internal import SIWACommandTable
internal import SIWACrypto
internal import SIWALifecycle
internal import SIWASystem

/// Standard output for the result, standard error for everything else, and the signals.
struct EmulatorWorld: ToolWorld {
    static var tool: Tool<Self> { emulatorTool }

    /// Notified when a signal asks the server to end.
    let stop: WakeSignal

    /// Writes to standard output without buffering.
    func print(_ text: String) throws(FileError) {
        try writeAll(SecretBytes(text.utf8), to: 1, named: "standard output")
    }

    func print(_ document: ToolDocument, _ options: NoOptions) throws {
        try print(document.text)
    }

    func write(
        _ documents: [ToolDocument], into folder: String, _ options: NoOptions
    ) throws {
        try writeFiles(
            documents.map { NamedContents($0.fileName, SecretBytes($0.text.utf8)) }, into: folder)
        try print(documents.map { "\(folder)/\($0.fileName)\n" }.joined())
    }

    /// Writes a line to standard error. A failure to write it cannot be reported.
    func note(_ line: String) {
        try? writeAll(SecretBytes((line + "\n").utf8), to: 2, named: "standard error")
    }

    /// Prints a warning.
    func warn(_ message: String) { note("siwa-emulator: warning: \(message)") }
}
