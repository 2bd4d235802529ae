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
        while let begin = text.place(of: "-----BEGIN ", from: start) {
            guard let label = text.line(from: begin.end, upTo: "-----") else {
                throw .damaged("its BEGIN line has no end")
            }
            start = label.end
            if let other = Self.otherContent(label.text) {
                passedOver = passedOver ?? .notAPrivateKey(other)
                continue
            }
            try Self.checkKind(label.text)
            guard let end = text.place(of: "-----END", from: start) else {
                throw .damaged("its END line is missing")
            }
            let body = text.slice(start..<end.start)
            // "Proc-Type: 4,ENCRYPTED"; base64 contains no comma.
            guard body.place(of: ",ENCRYPTED", from: 0) == nil else { throw .encrypted }
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
    /// The first occurrence of `text`. No optional range, whose type a start would create.
    fileprivate func place(of text: StaticString, from start: Int) -> (start: Int, end: Int)? {
        withSpan { bytes in
            var end = start + text.utf8CodeUnitCount
            while end <= bytes.count {
                let begin = end - text.utf8CodeUnitCount
                if bytes.extracting(begin..<end).isExactly(text) { return (begin, end) }
                end += 1
            }
            return nil
        }
    }

    /// The short text before the next `mark`, and the position after the mark.
    fileprivate func line(
        from start: Int, upTo mark: StaticString
    ) -> (text: String, end: Int)? {
        guard let mark = place(of: mark, from: start), mark.start - start <= 64 else {
            return nil
        }
        let label = slice(start..<mark.start)
        return (String(decoding: label.revealed(), as: UTF8.self), mark.end)
    }

    fileprivate func slice(_ range: Range<Int>) -> SecretBytes {
        var part = SecretBuffer(capacity: range.count)
        withSpan { bytes in
            for index in range { part.append(bytes[index]) }
        }
        return part.finished()
    }
}
