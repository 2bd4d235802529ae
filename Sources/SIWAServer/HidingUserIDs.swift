internal import Lifecycle

/// The text with a fingerprint in place of every user id: of `known`, and of what messages quote
/// after `of`, as in "token 0123456789ab of 'USER'".
func hidingUserIDs(_ known: [String], in text: String) -> String {
    let bytes = Array(text.utf8)
    let known = known.map { Array($0.utf8) }.filter { !$0.isEmpty }
    var shown: [UInt8] = []
    var position = 0
    while position < bytes.count {
        let rest = bytes[position...]
        if let id = known.first(where: { rest.starts(with: $0) }) ?? quotedID(bytes, at: position) {
            shown += SecretText(String(decoding: id, as: UTF8.self)).fingerprint.utf8
            position += id.count
        } else {
            shown.append(bytes[position])
            position += 1
        }
    }
    return String(decoding: shown, as: UTF8.self)
}

/// The text between `of '` and the next quotation mark at the end of a word; nil if it does not
/// begin at this position.
private func quotedID(_ bytes: [UInt8], at position: Int) -> [UInt8]? {
    guard bytes[..<position].suffix(4).elementsEqual("of '".utf8) else { return nil }
    let end = bytes[position...].indices.first { index in
        bytes[index] == UInt8(ascii: "'")
            && (index + 1 == bytes.count || " :;,.)".utf8.contains(bytes[index + 1]))
    }
    return end.flatMap { $0 > position ? Array(bytes[position..<$0]) : nil }
}
