internal import SIWACrypto
internal import SIWAJOSE

extension CompactJWS {
    /// The `kid` to look for in Apple's key set; nil for a header that Apple does not write, and
    /// for which no key set needs to be fetched.
    package var verificationKeyID: String? {
        headerFault == nil ? namedKeyID : nil
    }

    fileprivate var namedKeyID: String? { heading.keyID.flatMap { $0.isEmpty ? nil : $0 } }

    /// Why the signature must not be checked; nil for an acceptable header.
    fileprivate var headerFault: String? {
        guard heading.isRS256 else {
            return "alg is \(header["alg"].shown), not RS256"
        }
        // An extension that is not understood must be refused (RFC 7515 §4.1.11).
        return heading.isCritical ? "the header demands extensions (crit)" : nil
    }

    /// A note about keys and key URLs in the header, which are not used (RFC 7515 §4.1.2 to
    /// §4.1.6).
    fileprivate var unusedKeysNote: String {
        let brought = ["jku", "jwk", "x5u", "x5c"].filter { header[$0] != nil }
        return brought.isEmpty
            ? "" : "; the header's own \(brought.joined(separator: ", ")) is never used"
    }
}

extension TokenVerifier {
    /// Checks algorithm, key and signature, each only if the one before it passed.
    func addSignatureChecks(_ token: CompactJWS, to checks: inout [TokenCheck]) {
        if let fault = token.headerFault {
            checks.append(.failed(.algorithm, fault))
            checks.append(.skipped(.key, "the header is not Apple's"))
            checks.append(.skipped(.signature, "the header is not Apple's"))
            return
        }
        checks.append(.passed(.algorithm, "RS256"))
        guard let id = token.namedKeyID, let key = keySet?[id] else {
            addMissingKey(token, to: &checks)
            return
        }
        checks.append(.passed(.key, id))
        checks.append(signature(token, key))
    }

    /// A token that names no key at all is not Apple's, however it was received.
    private func addMissingKey(_ token: CompactJWS, to checks: inout [TokenCheck]) {
        guard isReceivedFromApple, token.namedKeyID != nil else {
            checks.append(.failed(.key, unknownKey(token)))
            checks.append(.skipped(.signature, "there is no key to verify it with"))
            return
        }
        checks.append(
            .skipped(
                .key,
                keySet == nil
                    ? "Apple's keys are not available" : "Apple's key set does not have this key"))
        checks.append(.skipped(.signature, "the token came from Apple over TLS"))
    }

    private func signature(_ token: CompactJWS, _ key: RSAPublicKey) -> TokenCheck {
        isSigned(token, by: key)
            ? .passed(.signature)
            : .failed(
                .signature,
                "the key that kid names did not make it\(token.unusedKeysNote)")
    }

    private func isSigned(_ token: CompactJWS, by key: RSAPublicKey) -> Bool {
        let (bytes, signature) = (token.bytes, token.signature)
        let isValid =
            if let hashes = token.hashes {
                try? key.isValidSignature(signature, forHash: hashes.signed)
            } else {
                try? key.isValidSignature(
                    signature, for: bytes.span.extracting(first: token.signedCount))
            }
        return isValid == true
    }

    private func unknownKey(_ token: CompactJWS) -> String {
        "kid is \(token.header["kid"].shown), \(expectedKey(token))\(token.unusedKeysNote)"
    }

    private func expectedKey(_ token: CompactJWS) -> String {
        guard let keySet else { return "expected the name of one of Apple's keys" }
        if let id = token.namedKeyID,
            let ignored = keySet.ignored.first(where: { $0.keyID == id })
        {
            return "whose key cannot be used: \(ignored.reason.rawValue)"
        }
        return "the key set has \(keySet.keyIDs.joined(separator: ", "))"
    }
}
