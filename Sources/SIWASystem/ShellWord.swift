extension String {
    /// The text as one word of a shell's command line.
    package var quotedForShell: String {
        let isPlain = allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "_./-".contains($0))
        }
        guard !isPlain || isEmpty || hasPrefix("-") else { return self }
        return "'"
            + split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
            + "'"
    }
}
