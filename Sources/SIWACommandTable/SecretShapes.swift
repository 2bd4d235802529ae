/// The text with everything masked that has the shape of a token, a code, a JWT or a private key,
/// and with masked passwords of URLs.
///
/// Used for every message that quotes what a user typed: users paste secrets in the wrong place,
/// and messages end up in logs. The shapes are those of Apple's tokens and codes (`r<32 hexadecimal
/// digits>.0.…`), of JWTs (`eyJ…`), of siwa-server's API tokens (`siwa_…`), of keys in PEM and of
/// their base64, and of 64 hexadecimal digits. A text that was shortened (`…`) is masked if the
/// rest may be a secret.
package func maskingSecrets(in text: String) -> String {
    guard mayHaveSecret(text.utf8.span) else { return text }
    let bytes = Array(text.utf8)
    var masked: [UInt8] = []
    var position = 0
    var shown = 0
    while position < bytes.count {
        guard mayBegin(in: bytes, at: position), let end = endOfSecret(in: bytes, at: position)
        else {
            position += 1
            continue
        }
        masked += bytes[shown..<position] + secretMask.utf8
        (position, shown) = (end, end)
    }
    guard shown > 0 else { return text }
    return String(decoding: masked + bytes[shown...], as: UTF8.self)
}

/// The text that replaces a masked secret.
let secretMask = "(secret, not shown)"

/// Whether a text may have a secret: it has a character that precedes a password, that begins a key
/// in PEM or a JWT, or that is not ASCII, where it may have been shortened; or more letters and
/// digits in a row than an id.
private func mayHaveSecret(_ text: Span<UInt8>) -> Bool {
    var run = 0
    for index in text.indices {
        let byte = text[index]
        guard isBase64(byte) else {
            if byte == UInt8(ascii: ":") || byte == UInt8(ascii: "=") || byte > 0x7F { return true }
            run = 0
            continue
        }
        run += 1
        // The shortest is a letter and 32 hexadecimal digits.
        if run > 32 { return true }
        // `eyJ` and `-BEGIN`
        guard run > 1, byte == UInt8(ascii: "J") || byte == UInt8(ascii: "B") else { continue }
        let previous = text[index - 1]
        if previous == UInt8(ascii: "y") || previous == UInt8(ascii: "-") { return true }
    }
    return false
}

/// Whether a secret may begin at a position. Every byte of a log is asked about, and nearly none may.
private func mayBegin(in bytes: [UInt8], at position: Int) -> Bool {
    guard position > 0 else { return true }
    switch (bytes[position - 1], bytes[position]) {
    case (UInt8(ascii: "="), _), (UInt8(ascii: ":"), _): return true
    case (_, UInt8(ascii: "-")), (_, UInt8(ascii: "e")), (_, UInt8(ascii: "s")),
        (_, UInt8(ascii: "a")), (_, UInt8(ascii: "c")), (_, UInt8(ascii: "r")):
        return true
    case (let previous, let byte): return isBase64(byte) && !isBase64(previous)
    }
}

/// The end of the secret that begins at a position; nil if no secret begins there.
private func endOfSecret(in bytes: [UInt8], at start: Int) -> Int? {
    if let end = endOfPassword(in: bytes, at: start) { return end }
    return switch bytes[start] {
    case UInt8(ascii: "-"): endOfArmour(in: bytes, at: start) ?? endOfBareKey(in: bytes, at: start)
    case UInt8(ascii: "e") where begins(bytes, at: start, with: "eyJ"):
        endOfJWT(in: bytes, at: start)
    case UInt8(ascii: "s") where begins(bytes, at: start, with: "siwa_"):
        endOfAPIToken(in: bytes, at: start)
    case UInt8(ascii: "a"), UInt8(ascii: "c"), UInt8(ascii: "r"):
        endOfOpaqueToken(in: bytes, at: start) ?? endOfBareKey(in: bytes, at: start)
    default: endOfBareKey(in: bytes, at: start)
    }
}

/// A password in a URL: between the user's name and `@`, or after `password=`.
private func endOfPassword(in bytes: [UInt8], at start: Int) -> Int? {
    if start >= 9, begins(bytes, at: start - 9, with: "password=") {
        // The text may have been masked before.
        guard !begins(bytes, at: start, with: secretMask) else { return nil }
        let value = word(in: bytes, at: start).prefix { $0 != UInt8(ascii: "&") }
        return value.isEmpty ? nil : value.endIndex
    }
    guard isBehindUser(bytes, start) else { return nil }
    let word = word(in: bytes, at: start)
    // Digits after a host name are a port.
    let digits = word.prefix(while: isDigit)
    guard let next = word[digits.endIndex...].first, !"/?#,".utf8.contains(next),
        !isCut(bytes, at: digits.endIndex)
    else { return nil }
    return word.lastIndex(of: UInt8(ascii: "@")) ?? word.indices.first { isCut(bytes, at: $0) }
}

/// The bytes from a position to the next space or quotation mark.
private func word(in bytes: [UInt8], at start: Int) -> ArraySlice<UInt8> {
    bytes[start...].prefix(512).prefix { !" \t\r\n'\"`".utf8.contains($0) }
}

/// Whether the bytes before this position are `scheme://name:`.
private func isBehindUser(_ bytes: [UInt8], _ position: Int) -> Bool {
    guard position > 0, bytes[position - 1] == UInt8(ascii: ":") else { return false }
    let before = bytes[..<(position - 1)]
    let name = before.lastIndex { ":/@ '\"".utf8.contains($0) }
    guard let name, name >= 2 else { return false }
    return begins(bytes, at: name - 2, with: "://")
}

/// A private key in PEM, complete or cut off.
private func endOfArmour(in bytes: [UInt8], at start: Int) -> Int? {
    guard begins(bytes, at: start, with: "-----BEGIN ") else { return nil }
    let label = bytes[start...].prefix(80)
    guard let mark = label.indices.first(where: { begins(bytes, at: $0, with: "PRIVATE KEY") })
    else { return nil }
    let end = bytes.indices[mark...].first { begins(bytes, at: $0, with: "-----END ") }
    guard let end else { return bytes.count }
    let tail = bytes.indices[end...].first {
        $0 >= end + 9 && begins(bytes, at: $0, with: "-----")
    }
    return tail.map { $0 + 5 } ?? bytes.count
}

private func endOfJWT(in bytes: [UInt8], at start: Int) -> Int? {
    let end = endOfRun(in: bytes, from: start, isTokenByte)
    return end - start >= 8 || isCut(bytes, at: end) ? end : nil
}

/// A token of siwa-server's API: `siwa_` and 32 bytes in base64url.
private func endOfAPIToken(in bytes: [UInt8], at start: Int) -> Int? {
    let end = endOfRun(in: bytes, from: start + 5, isBase64)
    let count = end - start - 5
    return count >= 43 || count >= 8 && isCut(bytes, at: end) ? end : nil
}

/// An authorization code, a refresh token or an access token. A user id has as many digits, but not
/// after one of these letters, so it is not masked.
private func endOfOpaqueToken(in bytes: [UInt8], at start: Int) -> Int? {
    let endOfDigits = endOfRun(in: bytes, from: start + 1, isHexadecimal)
    let count = endOfDigits - start - 1
    guard count >= 32 || count >= 8 && isCut(bytes, at: endOfDigits) else { return nil }
    return endOfRun(in: bytes, from: endOfDigits, isTokenByte)
}

/// A key without armour: in hexadecimal, or in base64.
private func endOfBareKey(in bytes: [UInt8], at start: Int) -> Int? {
    guard isBase64(bytes[start]), start == 0 || !isBase64(bytes[start - 1]) else { return nil }
    let endOfDigits = endOfRun(in: bytes, from: start, isBase64)
    // The fingerprint of a public key, as ssh-add shows it.
    let label = "SHA256:"
    if endOfDigits - start == 43, start >= label.utf8.count,
        begins(bytes, at: start - label.utf8.count, with: label)
    {
        return nil
    }
    // No shape is shorter.
    guard endOfDigits - start >= 16 else { return nil }
    let end = endOfRun(in: bytes, from: endOfDigits) { $0 == UInt8(ascii: "=") }
    let run = bytes[start..<endOfDigits].drop { $0 == UInt8(ascii: "-") }
    if run.count >= 64, run.allSatisfy(isHexadecimal) { return end }
    // The beginning of a private key in DER, or in PEM that was encoded again.
    let isKey = ["MI", "MH", "LS0t"].contains { begins(bytes, at: run.startIndex, with: $0) }
    if isKey, run.count > 40 || run.count >= 16 && isCut(bytes, at: end) { return end }
    return isRandom(run) ? end : nil
}

/// Whether a run has the length and the mixture of characters of a 32-byte key in base64, unlike
/// paths and names.
private func isRandom(_ run: ArraySlice<UInt8>) -> Bool {
    guard run.count >= 43 else { return false }
    let longest = run.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "-") }
        .map(\.count).max()
    let kinds = [
        run.count(where: isDigit),
        run.count { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) },
        run.count { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) },
    ]
    return (longest ?? 0) >= 20 && kinds.allSatisfy { $0 >= 3 }
}

private func begins(_ bytes: [UInt8], at position: Int, with text: String) -> Bool {
    let (bytes, text) = (bytes.span, text.utf8.span)
    guard text.count <= bytes.count - position else { return false }
    for index in text.indices where bytes[position + index] != text[index] { return false }
    return true
}

private func endOfRun(
    in bytes: [UInt8], from start: Int, _ belongs: (UInt8) -> Bool
) -> Int {
    var end = start
    while end < bytes.count, belongs(bytes[end]) { end += 1 }
    return end
}

/// Whether the text was shortened here.
private func isCut(_ bytes: [UInt8], at position: Int) -> Bool {
    begins(bytes, at: position, with: "…")
}

private func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
}

private func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
    default: isDigit(byte)
    }
}

private func isBase64(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"),
        UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
    default: false
    }
}

private func isTokenByte(_ byte: UInt8) -> Bool {
    // A form or a URL writes a character as `%2E`.
    isBase64(byte) || ".~=%".utf8.contains(byte)
}
