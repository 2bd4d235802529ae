import SIWAJOSE
import SIWALifecycle
import Testing

@Suite struct IdentityTokenClaimsTests {
    static func claims(_ changes: KeyValuePairs<String, JSON?>) throws -> IdentityTokenClaims {
        try #require(try Forge.verify(Forge.claims(changes)).claims)
    }

    @Test func `a verified token contains the user, the audience and the times`() throws {
        let claims = try Self.claims([
            "auth_time": 5, "transfer_sub": "t-1", "real_user_status": 2, "x": true,
        ])
        #expect(claims.userID == UserID(unchecked: "000001.ab.0001"))
        #expect(claims.clientID == ClientID(unchecked: "com.example.app"))
        #expect(claims.issuer == TokenVerifier.appleIssuer)
        #expect(claims.issuedAt == Forge.now && claims.expiresAt == Forge.now + .seconds(600))
        #expect(claims.authenticatedAt == NumericDate(5))
        #expect(claims.nonce == "n-0S6_WzA2Mj")
        #expect(claims.transferID == TransferID(unchecked: "t-1"))
        #expect(claims.realUserStatus == .likelyReal)
        #expect(claims.json["x"] == true)
    }

    static let flags: [Row<(claim: JSON?, flag: Bool?)>] = [
        Row("true", (true, true)), Row("false", (false, false)), Row("\"true\"", ("true", true)),
        Row("\"false\"", ("false", false)), Row("absent", (nil, nil)),
        Row("neither", ("yes", nil)), Row("a number", (1, nil)),
    ]

    @Test(arguments: flags)
    func `a flag can be a boolean or a text`(_ row: Row<(claim: JSON?, flag: Bool?)>) throws {
        let claims = try Self.claims([
            "email": "a@b.example", "email_verified": row.value.claim,
            "is_private_email": row.value.claim,
        ])
        #expect(claims.isEmailVerified == row.value.flag)
        #expect(claims.isPrivateEmail == (row.value.flag ?? false))
        #expect(claims.email == "a@b.example")
    }

    @Test func `an empty address counts as absent`() throws {
        #expect(try Self.claims(["email": ""]).email == nil)
        #expect(try Self.claims([:]).email == nil)
    }

    @Test func `an unknown status is kept`() throws {
        #expect(try Self.claims(["real_user_status": 9]).realUserStatus?.rawValue == 9)
        #expect(try Self.claims(["real_user_status": 9]).realUserStatus?.name == nil)
        #expect(try Self.claims(["real_user_status": "2"]).realUserStatus == nil)
    }
}
