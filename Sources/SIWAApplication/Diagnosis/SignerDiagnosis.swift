internal import SIWALifecycle

extension SignerFailure: DiagnosableError {
    package var diagnosis: Diagnosis {
        Diagnosis(
            code, reason, hints: (words.map { ["the signer said: \($0)"] } ?? []) + [hint],
            exitCode: isTemporary ? .temporary : .settings,
            apiStatus: isTemporary || kind == .key ? nil : .badGateway)
    }

    private var code: ErrorCode {
        switch kind {
        case .unavailable: .signerUnavailable
        case .refused, .denied: .signerRefused
        case .invalidSignature: .signerInvalidSignature
        case .unusable: .signerUnusable
        case .key: .key
        }
    }

    private var hint: String {
        switch kind {
        case .unavailable: "nothing was sent; try again when the signer answers"
        case .refused: "nothing was sent; the signer's own log may say why it did not sign"
        case .denied:
            """
            nothing was sent; fix the signer's PIN, policy or permission before asking again: a \
            token may lock after three wrong tries
            """
        case .invalidSignature:
            "compare public_key with the key that the signer uses, and both with key_id"
        case .unusable: "nothing was sent; fix the signer, or private_key where it is set"
        case .key: "the file is damaged: restore the .p8 as Apple gave it"
        }
    }
}
