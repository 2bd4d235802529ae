internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The faults in the signature of a client_secret.
struct SignatureFindings {
    let all: [Finding]

    init(_ jws: CompactJWS, _ expected: ExpectedClient) {
        // The signature of another algorithm is not examined: its name is a finding already.
        guard jws.header["alg"].map({ $0 == "ES256" || $0 == "E256" }) ?? true else {
            all = []
            return
        }
        let bytes = jws.signature
        let raw = P256Signature(rawRepresentation: bytes)
        // r||s may begin like DER: one in 65,536 does.
        let isDER =
            raw == nil && bytes.count > 2 && bytes[0] == 0x30 && Int(bytes[1]) == bytes.count - 2
        let signature = isDER ? try? P256Signature(der: bytes) : raw
        guard isDER || signature != nil else {
            all = [Self.length(bytes.count)]
            return
        }
        let owner = signature.map { Self.owner($0, jws, expected) } ?? []
        all = (isDER ? [Self.derFinding] : []) + owner
    }

    private static let derFinding = Finding(
        .derSignature, seen: "the signature is ASN.1 DER, as OpenSSL writes it",
        advice:
            "JWT requires r and s, 32 bytes each (RFC 7518 §3.4): convert it, or use a JWT library"
    )

    private static func length(_ count: Int) -> Finding {
        guard count > 0 else {
            return Finding(
                .unsigned, seen: "it has no signature", advice: "sign it with the .p8, ES256")
        }
        return Finding(
            .signatureLength, seen: "the signature has \(count) bytes, one by ES256 has 64",
            advice: "sign with ES256 (P-256, SHA-256), and check that nothing was cut off")
    }

    private static func owner(
        _ signature: P256Signature, _ jws: CompactJWS, _ expected: ExpectedClient
    ) -> [Finding] {
        guard let key = expected.key, !key.signed(jws, signature) else { return [] }
        guard let other = expected.otherKeys.first(where: { $0.signed(jws, signature) }) else {
            return [
                Finding(
                    .wrongKey, .error, .likely,
                    seen: "the signature is not by \(key.name), or its text was changed afterwards",
                    advice: """
                        sign with the .p8 of the Key ID in kid; 'siwa public-key --key FILE' \
                        shows which file is which
                        """)
            ]
        }
        return [
            Finding(
                .wrongKey, seen: "the signature is by \(other.name), not by \(key.name)",
                advice: "sign with \(key.name), or set kid to the Key ID of \(other.name)")
        ]
    }
}

extension KnownKey {
    fileprivate func signed(_ jws: CompactJWS, _ signature: P256Signature) -> Bool {
        (try? publicKey.isValidSignature(signature, for: jws.signingInput.span)) == true
    }
}
