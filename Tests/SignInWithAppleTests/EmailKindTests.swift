import SIWAJOSE
import SIWALifecycle
import Testing

@Suite struct EmailKindTests {
    /// `is_private_email` counts first, for every domain.
    @Test(
        arguments: [
            ("x7k2m9q4zt@privaterelay.appleid.com", true, .relay),
            ("x7k2m9q4zt@private.icloud.com", true, .relay),
            ("x7k2m9q4zt@relay.example.com", true, .relay), ("alice@icloud.com", true, .relay),
            ("x7k2m9q4zt@privaterelay.appleid.com", false, .other),
            ("x7k2m9q4zt@private.icloud.com", false, .other),
            ("x7k2m9q4zt@privaterelay.appleid.com", nil, .relay),
            ("x7k2m9q4zt@Private.iCloud.com", nil, .relay), ("alice@icloud.com", nil, .icloud),
            ("alice@icloud.com", false, .icloud), ("alice@ME.com", nil, .icloud),
            ("alice@example.com", nil, .other), ("alice@xicloud.com", nil, .other),
            ("alice@mail.icloud.com", nil, .other), ("icloud.com@example.com", nil, .other),
            ("alice", nil, .other), ("", nil, .other), ("alice@icloud.com@", nil, .icloud),
            ("icloud.com", nil, .icloud), ("@@", nil, .other),
            ("alice@ic\u{2113}oud.com", nil, .other),
            ("alice@example.com@ICLOUD.COM", nil, .icloud),
        ] as [(String, Bool?, EmailKind)])
    func `the kind of an address depends on the flag, then on the domain`(
        _ address: String, _ isPrivate: Bool?, _ kind: EmailKind
    ) {
        #expect(EmailKind(address, isPrivate: isPrivate) == kind)
    }

    @Test(
        arguments: [
            (["email": "x@private.icloud.com", "is_private_email": true], .relay),
            (["email": "x@privaterelay.appleid.com", "is_private_email": "true"], .relay),
            (["email": "x@icloud.com"], .icloud), (["email": "x@example.com"], .other),
            (["email": ""], nil), ([:], nil), (["email": 1], nil),
        ] as [(JSON, EmailKind?)])
    func `the kind of a token's address depends on its claims`(_ claims: JSON, _ kind: EmailKind?)
        throws
    {
        let token = CompactJWS.sign(header: [:], payload: claims) { _ in [1] }
        let text = SecretText(token).revealed()
        #expect(try CompactJWS(text).emailKind == kind)
    }
}
