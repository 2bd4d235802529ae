import SIWALifecycle
import Testing

@Suite struct RevocationTests {
    struct Course: Sendable {
        let proof: Revocation.Proof
        let script: [Result<HTTPResponse, TransportError>]
        let sent: [String]
        let status: Int?
        var wasActive: Bool?
        var evidence: Revocation.Evidence?
        let isRevoked: Bool
        var isConfirmed = false
    }

    static let once = ["revoke"]
    static let after = ["revoke", "token"]
    static let both = ["token", "revoke", "token"]

    static let courses: [Row<Course>] = [
        Row(
            "no proof",
            Course(proof: .none, script: [.nothing], sent: once, status: 200, isRevoked: true)),
        Row(
            "no proof, through an outage",
            Course(
                proof: .none, script: [.page(503), .nothing], sent: ["revoke", "revoke"],
                status: 200, isRevoked: true)),
        Row(
            "proof afterwards: refused",
            Course(
                proof: .afterwards, script: [.nothing, .invalidGrant], sent: after, status: 200,
                evidence: .refreshRejected, isRevoked: true, isConfirmed: true)),
        Row(
            "proof afterwards: still works",
            Course(
                proof: .afterwards, script: [.nothing, .refreshed], sent: after, status: 200,
                evidence: .refreshAccepted, isRevoked: false)),
        Row(
            "proof afterwards: through an outage",
            Course(
                proof: .afterwards, script: [.nothing, .page(503), .invalidGrant],
                sent: after + ["token"],
                status: 200, evidence: .refreshRejected, isRevoked: true, isConfirmed: true)),
        Row(
            "both: this call did it",
            Course(
                proof: .beforeAndAfterwards, script: [.refreshed, .nothing, .invalidGrant],
                sent: both,
                status: 200, wasActive: true, evidence: .acceptedThenRejected, isRevoked: true,
                isConfirmed: true)),
        Row(
            "both: invalid_request counts after it worked",
            Course(
                proof: .beforeAndAfterwards, script: [.refreshed, .nothing, .invalidRequest],
                sent: both,
                status: 200, wasActive: true, evidence: .acceptedThenRejected, isRevoked: true,
                isConfirmed: true)),
        Row(
            "both: still works",
            Course(
                proof: .beforeAndAfterwards, script: [.refreshed, .nothing, .refreshed], sent: both,
                status: 200, wasActive: true, evidence: .refreshAccepted, isRevoked: false)),
        Row(
            "both: dead before, so nothing is sent",
            Course(
                proof: .beforeAndAfterwards, script: [.invalidGrant], sent: ["token"], status: nil,
                wasActive: false, evidence: .refreshRejected, isRevoked: false)),
    ]

    @Test(arguments: courses) func `a revocation ends with the expected proof`(_ row: Row<Course>)
        async throws
    {
        let course = row.value
        let harness = try ClientHarness(course.script)
        let result = try await harness.tokens.revoke(
            SecretText("r.1"), as: .refreshToken, proof: course.proof)
        let endpoints = harness.transport.sent.map {
            String($0.request.url.split(separator: "/").last ?? "")
        }
        #expect(endpoints == course.sent)
        #expect(harness.transport.isExhausted)
        #expect(result.status == course.status)
        #expect(result.wasActive == course.wasActive)
        #expect(result.evidence == course.evidence)
        #expect(result.isRevoked == course.isRevoked)
        #expect(result.isConfirmed == course.isConfirmed)
    }

    static let failures: [Row<(Revocation.Proof, [Result<HTTPResponse, TransportError>], String)>] =
        [
            Row("the revocation is refused", (.afterwards, [.invalidClient], "the revocation")),
            Row(
                "the client is refused before",
                (.beforeAndAfterwards, [.invalidClient], "the refresh")),
            Row(
                "invalid_request before proves nothing",
                (.beforeAndAfterwards, [.invalidRequest], "the refresh")),
            Row(
                "invalid_request afterwards proves nothing unless it worked before",
                (
                    .afterwards, [.nothing, .invalidRequest], "the refresh after the revocation"
                )),
            Row(
                "the client is refused afterwards",
                (
                    .afterwards, [.nothing, .invalidClient], "the refresh after the revocation"
                )),
            Row(
                "no answer afterwards",
                (
                    .afterwards,
                    [.nothing] + Array(repeating: .failed(.cut, mayHaveLeft: true), count: 4),
                    "the refresh after the revocation"
                )),
        ]

    @Test(arguments: failures) func `a revocation fails when a request fails`(
        _ row: Row<(Revocation.Proof, [Result<HTTPResponse, TransportError>], String)>
    ) async throws {
        let harness = try ClientHarness(row.value.1, timeout: .seconds(600))
        let failure = await failure { () async throws(TokenFailure) in
            try await harness.tokens.revoke(
                SecretText("r.1"), as: .refreshToken, proof: row.value.0)
        }
        #expect(failure?.request.description == row.value.2)
        #expect(harness.transport.isExhausted)
    }

    @Test(arguments: TokenKind.allCases) func `a revocation sends the hint of its token's kind`(
        _ kind: TokenKind
    ) async throws {
        let harness = try ClientHarness([.nothing])
        _ = try await harness.tokens.revoke(SecretText("t.1"), as: kind, proof: .none)
        let sent = try #require(harness.transport.sent.first)
        #expect(sent["token"] == "t.1")
        #expect(sent["token_type_hint"] == kind.rawValue)
    }
}
