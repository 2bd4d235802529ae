internal import SIWASystem

extension FileError: DiagnosableError {
    var diagnosis: Diagnosis {
        if isRefusedReplacement {
            return Diagnosis(
                .usage, description,
                hints: ["give another file; if nobody needs this one, remove it first"],
                exitCode: .usage)
        }
        if isLostOutput {
            return Diagnosis(
                .notDelivered, description, hints: advice(or: Self.fullDisk),
                exitCode: .notDelivered)
        }
        return Diagnosis(
            isTemporary ? .temporary : .configuration, description, hints: advice(or: usual),
            exitCode: isTemporary ? .temporary : .settings)
    }

    /// The remedy if the error has its own, such as a limit to raise; else `usual`.
    package func advice(or usual: String...) -> [String] { remedy.map { [$0] } ?? usual }

    private static let fullDisk = "free space on the disk, then run it again"

    private var usual: String {
        if isTemporary { return Self.fullDisk }
        if isNotEmpty { return "give a new file" }
        guard isDenied else { return "give a usable path" }
        return operation == "read"
            ? "give a file that this user may read"
            : "give a file of this user, in a folder that this user may write"
    }
}
