internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// A key that is found is found again where it is written as Apple writes it, and no error shows
/// a part of it.
func checkKeyText(_ input: [UInt8]) throws(Violation) {
    do {
        let found = try PrivateKeyText(SecretBytes(input))
        try checkRewritten(found)
        let key = try found.privateKey()
        let again = try PrivateKeyText(key.pemRepresentation()).privateKey()
        try demand(
            again.publicKey.x963Representation == key.publicKey.x963Representation,
            "a key that is written and read is the same key")
    } catch let violation as Violation {
        throw violation
    } catch let error as PrivateKeyError {
        try demand(!repeats(error.description, input), "an error shows nothing of the key")
    } catch {
        throw Violation("a key that was read can be written: \(type(of: error))")
    }
}

private func checkRewritten(_ found: PrivateKeyText) throws(Violation) {
    let pem = """
        -----BEGIN PRIVATE KEY-----
        \(Base64.encode(found.der.revealed()))
        -----END PRIVATE KEY-----

        """
    let again = try? PrivateKeyText(SecretBytes(pem.utf8))
    try demand(again?.der.revealed() == found.der.revealed(), "PEM of the DER has the same DER")
    try demand(again?.repairs == [], "PEM needs no repair")
}

/// Whether a message contains a piece of base64 from the input.
func repeats(_ message: String, _ input: [UInt8]) -> Bool {
    let pieces = message.utf8.split { byte in
        let character = Character(Unicode.Scalar(byte))
        return !character.isASCII
            || !(character.isLetter || character.isNumber || "+/".contains(character))
    }
    return pieces.contains { $0.count >= 16 && input.contains($0) }
}
