import Foundation
import SignInWithApple
import SignInWithAppleEmulator
import Testing

/// Bad tokens in the library: of an emulator in the same process, and the document of vectors.
@Suite struct ConformanceVectorsTests {
    @Test func `the client of the library comes to the result of every token of its emulator`()
        async throws
    {
        let apple = try await InProcessApple()
        let tokens = try await apple.badTokens(nonce: "n-1")
        #expect(tokens.count > 90)
        for bad in tokens where bad.result == .invalid {
            await #expect(throws: SignInWithAppleError.self, "\(bad.flags) \(bad.comment)") {
                try await apple.client.verify(
                    bad.token, nonce: "n-1", code: bad.code, accessToken: bad.accessToken)
            }
        }
    }

    @Test func `bad tokens can be made for another user and another client`() async throws {
        let apple = try await InProcessApple()
        try await apple.add(InProcessApple.User(name: "bob", email: "bob@example.com"))
        let tokens = try await apple.badTokens(of: "bob", for: "com.example.web")
        #expect(tokens.contains { $0.flags == ["T01"] })
        let stolen = try #require(tokens.first { $0.flags == ["T20"] })
        #expect(stolen.token.split(separator: ".").count == 3 && stolen.result == .invalid)
        await #expect(throws: EmulatorError.self) { try await apple.badTokens(of: "nobody") }
    }

    @Test func `the document is the one of docs/conformance, with its groups as values`()
        async throws
    {
        let vectors = try await ConformanceVectors()
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/conformance/siwa-vectors-1.json").standardized
        #expect(try Data(vectors.json.utf8) == Data(contentsOf: file))
        let first = try #require(vectors.groups.first)
        #expect(first.tests[0].result == .valid && first.tests[0].flags == [])
        #expect(first.nonce?.isEmpty == false && first.keySet.hasPrefix(#"{"keys":["#))
        #expect(vectors.groups.last?.isNotifications == true)
        #expect(first.now == Date(timeIntervalSince1970: 1_795_000_000))
    }

    @Test func `a client with the key set of a group comes to its results`() async throws {
        for group in try await ConformanceVectors().groups {
            let apple = try await InProcessApple(clock: InProcessClock())
            let client = try SignInWithAppleClient(
                teamID: apple.teamID, clientID: "com.example.app", key: apple.key,
                transport: KeySetTransport(keySet: group.keySet), now: { group.now })
            for test in group.tests where test.result != .acceptable {
                let isAccepted: Bool
                do {
                    if group.isNotifications {
                        _ = try await client.notification(#"{"payload":"\#(test.token)"}"#)
                    } else {
                        try await client.verify(
                            test.token, nonce: group.nonce, code: test.code,
                            accessToken: test.accessToken)
                    }
                    isAccepted = true
                } catch {
                    isAccepted = false
                }
                #expect(isAccepted == (test.result == .valid), "\(test.flags) \(test.comment)")
            }
        }
    }
}

/// Answers every request with a key set.
private struct KeySetTransport: SignInWithApple.Transport {
    let keySet: String

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(
            status: 200, headers: [("Content-Type", "application/json")],
            body: Array(keySet.utf8))
    }
}
