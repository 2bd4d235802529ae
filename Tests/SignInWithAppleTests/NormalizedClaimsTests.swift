import SIWAJOSE
import Testing

@Suite struct NormalizedClaimsTests {
    static let rows: [Row<(JSON, JSON)>] = [
        Row(
            "claims siwa does not know",
            (["b": 1, "a": ["x": .null]], ["b": 1, "a": ["x": .null]])),
        Row(
            "flags as strings, until 2024",
            (
                ["email_verified": "true", "is_private_email": "false"],
                ["email_verified": true, "is_private_email": false]
            )),
        Row(
            "flags as booleans, since",
            (
                ["email_verified": false, "is_private_email": true],
                ["email_verified": false, "is_private_email": true]
            )),
        Row(
            "flags that are neither",
            (
                ["email_verified": "TRUE", "is_private_email": 1],
                ["email_verified": "TRUE", "is_private_email": 1]
            )),
        Row(
            "the user's own address",
            (
                ["email": "a@b.example", "email_verified": "true", "auth_time": "x"],
                [
                    "email": "a@b.example", "email_verified": true, "is_private_email": false,
                    "auth_time": "x",
                ]
            )),
        Row(
            "an address of which Apple says nothing",
            (["email": "a@b.example"], ["email": "a@b.example", "is_private_email": false])),
        Row("no address at all", (["email": "", "sub": "1"], ["email": "", "sub": "1"])),
        Row(
            "times",
            (
                ["exp": 1_657_703_492, "iat": 0, "nbf": -1, "auth_time": 253_402_300_799],
                [
                    "exp": 1_657_703_492, "exp_rfc3339": "2022-07-13T09:11:32Z",
                    "iat": 0, "iat_rfc3339": "1970-01-01T00:00:00Z",
                    "nbf": -1, "nbf_rfc3339": "1969-12-31T23:59:59Z",
                    "auth_time": 253_402_300_799, "auth_time_rfc3339": "9999-12-31T23:59:59Z",
                ]
            )),
        Row(
            "times that RFC 3339 cannot write",
            (
                [
                    "exp": .integer(.max), "iat": .integer(.min), "nbf": "1657703492",
                    "auth_time": .number("1e300"),
                ],
                [
                    "exp": .integer(.max), "iat": .integer(.min), "nbf": "1657703492",
                    "auth_time": .number("1e300"),
                ]
            )),
        Row(
            "the device cannot tell",
            (
                ["real_user_status": 0],
                ["real_user_status": 0, "real_user_status_name": "unsupported"]
            )),
        Row(
            "unknown",
            (
                ["real_user_status": 1],
                ["real_user_status": 1, "real_user_status_name": "unknown"]
            )),
        Row(
            "probably a person",
            (
                ["real_user_status": 2],
                ["real_user_status": 2, "real_user_status_name": "likely_real"]
            )),
        Row("a status of tomorrow", (["real_user_status": 3], ["real_user_status": 3])),
        Row("a status of another type", (["real_user_status": "2"], ["real_user_status": "2"])),
        Row(
            "claims that pass themselves off as added",
            (
                [
                    "exp": "soon", "exp_rfc3339": "2999-01-01T00:00:00Z",
                    "real_user_status_name": "x",
                ],
                ["exp": "soon"]
            )),
        Row("not an object", (["a"], ["a"])),
    ]

    @Test(arguments: rows) func `claims are normalized to their standard types`(
        _ row: Row<(JSON, JSON)>
    ) {
        #expect(row.value.0.normalizedClaims == row.value.1)
    }

    @Test func `normalizing twice changes nothing`() {
        for row in Self.rows {
            let once = row.value.0.normalizedClaims
            #expect(once.normalizedClaims == once, "\(row)")
        }
    }
}
