internal import LocalFiles

extension FileError: DiagnosableError {
    var diagnosis: Diagnosis {
        if isLostOutput {
            return Diagnosis(
                "not_delivered", description,
                hints: [remedy ?? "free space on the disk, then run it again"],
                exitCode: .notDelivered)
        }
        return Diagnosis(
            isTemporary ? "temporary" : "configuration", description, hints: advice,
            exitCode: isTemporary ? .temporary : .settings)
    }

    private var advice: [String] {
        if let remedy { return [remedy] }
        if isTemporary { return ["free space on the disk, then run it again"] }
        if isNotEmpty { return ["give a new file"] }
        guard isDenied else { return ["give a usable path"] }
        return [
            operation == "read"
                ? "give a file that this user may read"
                : "give a file of this user, in a folder that this user may write"
        ]
    }
}
