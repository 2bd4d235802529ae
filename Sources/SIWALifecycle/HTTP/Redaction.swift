internal import SIWACrypto

extension HTTPResponse {
    /// The answer with `secrets` replaced by their fingerprints: if a server echoes a request, its
    /// secrets must not appear in an error, a trace or a log.
    package func redacting(_ secrets: [SecretText]) -> HTTPResponse {
        // Texts that are shorter than Apple's secrets are kept: replacing them would only garble
        // the response.
        let secrets = secrets.filter { $0.bytes.count >= 8 }
        guard !secrets.isEmpty else { return self }
        return HTTPResponse(
            status: status,
            fields: fields.map { field in
                let value = Array(field.value.utf8).redacting(secrets)
                return HTTPField(field.name, String(decoding: value, as: UTF8.self))
            },
            body: body.redacting(secrets))
    }
}

extension [UInt8] {
    fileprivate func redacting(_ secrets: [SecretText]) -> [UInt8] {
        secrets.reduce(self) { text, secret in
            text.replacing(secret.bytes.revealed(), by: Array("(\(secret))".utf8))
        }
    }

    package func replacing(_ needle: [UInt8], by replacement: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var position = 0
        while position < count {
            if self[position] == needle[0], self[position...].starts(with: needle) {
                result += replacement
                position += needle.count
            } else {
                result.append(self[position])
                position += 1
            }
        }
        return result
    }
}
