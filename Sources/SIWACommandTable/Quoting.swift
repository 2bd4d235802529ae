/// What was typed, for a message: in quotes, on one line, shortened, without secrets and without
/// control characters.
func quoted(_ typed: String) -> String {
    let limit = 40
    let scalars = maskingSecrets(in: typed).unicodeScalars
    let shown = scalars.prefix(limit).map(visible).joined()
    let isCut = scalars.dropFirst(limit).first != nil
    return "'\(shown)\(isCut ? "…" : "")'"
}

/// `typed` in quotes if it could be meant as the name of a command or a flag, otherwise nil.
///
/// If a word is missing from a line, a token may take the place of a command or a flag, and error
/// messages end up in logs. No name is as long as a token.
func quotedName(_ typed: String) -> String? {
    let isName =
        typed.utf8.count <= 32 && maskingSecrets(in: typed) == typed
        && typed.utf8.allSatisfy { byte in
            switch Unicode.Scalar(byte) {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
            default: false
            }
        }
    return isName ? "'\(typed)'" : nil
}

private func visible(_ scalar: Unicode.Scalar) -> String {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
        scalar.escaped(asASCII: true)
    default: String(scalar)
    }
}
