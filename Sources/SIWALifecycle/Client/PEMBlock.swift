internal import SIWACrypto

/// The first private key between BEGIN and END lines (RFC 7468), read tolerantly, because tools
/// often change line ends and spaces.
struct PEMBlock {
    let der: SecretBytes
    private(set) var repairs: [PrivateKeyText.Repair] = []

    /// Nil if there is no BEGIN line.
    ///
    /// Blocks before the key, such as its curve or a certificate, are skipped.
    init?(_ text: SecretBytes) throws(PrivateKeyError) {
        var passedOver: PrivateKeyError?
        var start = 0
        while let begin = text.firstRange(of: "-----BEGIN ", from: start) {
            guard let label = text.line(from: begin.upperBound, upTo: "-----") else {
                throw .damaged("its BEGIN line has no end")
            }
            start = label.end
            if let other = Self.otherContent(label.text) {
                passedOver = passedOver ?? .notAPrivateKey(other)
                continue
            }
            try Self.checkKind(label.text)
            guard let end = text.firstRange(of: "-----END", from: start) else {
                throw .damaged("its END line is missing")
            }
            let body = text.slice(start..<end.lowerBound)
            // "Proc-Type: 4,ENCRYPTED"; base64 contains no comma.
            guard body.firstRange(of: ",ENCRYPTED", from: 0) == nil else { throw .encrypted }
            der = try Self.decode(body)
            repairs = Self.repairs(in: body)
            return
        }
        if let passedOver { throw passedOver }
        return nil
    }

    /// What a block contains if it is not a private key; nil for a key.
    private static func otherContent(_ label: String) -> PrivateKeyError.OtherContent? {
        switch label {
        case _ where label.hasSuffix("PRIVATE KEY"): nil
        case "EC PARAMETERS": .curveParameters
        case _ where label.hasSuffix("PUBLIC KEY"): .publicKey
        case _ where label.hasSuffix("CERTIFICATE"): .certificate
        case _ where label.hasSuffix("CERTIFICATE REQUEST"): .certificateRequest
        default: .otherPEM
        }
    }

    private static func checkKind(_ label: String) throws(PrivateKeyError) {
        switch label {
        case "PRIVATE KEY", "EC PRIVATE KEY": return
        case "ENCRYPTED PRIVATE KEY": throw .encrypted
        case "RSA PRIVATE KEY": throw .wrongKind("an RSA key")
        case "OPENSSH PRIVATE KEY": throw .wrongKind("an SSH key")
        default: throw .wrongKind("a key of another kind")
        }
    }

    private static func decode(_ body: SecretBytes) throws(PrivateKeyError) -> SecretBytes {
        do {
            return try decodeBase64(body)
        } catch {
            throw .damaged("the text between its BEGIN and END lines is not base64")
        }
    }

    private static func repairs(in body: SecretBytes) -> [PrivateKeyText.Repair] {
        body.withSpan { bytes in
            var found: [PrivateKeyText.Repair] = []
            if bytes.indices.contains(where: { bytes[$0] == 0x0D }) {
                found.append(.carriageReturns)
            }
            if bytes.indices.contains(where: { bytes[$0] == 0x20 || bytes[$0] == 0x09 }) {
                found.append(.indentation)
            }
            if !bytes.indices.contains(where: { bytes[$0] == 0x0A }) { found.append(.oneLine) }
            return found
        }
    }
}

extension SecretBytes {
    /// The first occurrence of `text`.
    fileprivate func firstRange(of text: StaticString, from start: Int) -> Range<Int>? {
        let wanted = Array("\(text)".utf8)
        return withSpan { bytes in
            guard bytes.count >= wanted.count, start <= bytes.count - wanted.count else {
                return nil
            }
            let found = (start...bytes.count - wanted.count).first { index in
                wanted.indices.allSatisfy { bytes[index + $0] == wanted[$0] }
            }
            return found.map { $0..<$0 + wanted.count }
        }
    }

    /// The short text before the next `mark`, and the position after the mark.
    fileprivate func line(
        from start: Int, upTo mark: StaticString
    ) -> (text: String, end: Int)? {
        guard let mark = firstRange(of: mark, from: start), mark.lowerBound - start <= 64 else {
            return nil
        }
        let label = slice(start..<mark.lowerBound)
        return (String(decoding: label.revealed(), as: UTF8.self), mark.upperBound)
    }

    fileprivate func slice(_ range: Range<Int>) -> SecretBytes {
        var part = SecretBuffer(capacity: range.count)
        withSpan { bytes in
            for index in range { part.append(bytes[index]) }
        }
        return part.finished()
    }
}
