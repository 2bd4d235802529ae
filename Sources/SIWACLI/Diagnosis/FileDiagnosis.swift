internal import LocalFiles

extension FileError: DiagnosableError {
    var diagnosis: Diagnosis {
        if isLostOutput {
            return Diagnosis(
                "not_delivered", description, hints: ["make room, then run it again"],
                exitCode: .notDelivered)
        }
        return Diagnosis(
            isTemporary ? "temporary" : "configuration", description, hints: advice,
            exitCode: isTemporary ? .temporary : .settings)
    }

    private var advice: [String] {
        if isTemporary { return ["make room, then run it again"] }
        if isNotEmpty { return ["give a new file"] }
        return [
            "give a usable path"
                + (isDenied ? " in a writable folder" : "")
        ]
    }
}
