import Foundation
import SIWAEmulator
import SIWAEmulatorServer
import SignInWithApple
import SignInWithAppleCurl
import SignInWithAppleEmulator
import Synchronization
import Testing

/// An emulator behind a real socket, and a client that connects to it with libcurl.
struct Fixture: Sendable {
    let apple: InProcessApple
    let url: String
    let client: SignInWithAppleClient

    static func serving(_ body: (Fixture) async throws -> Void) async throws {
        let apple = try await InProcessApple()
        try await EmulatorServer.serving(apple.emulator) { server in
            let client = try makeClient(apple, try CurlTransport(), baseURL: server.url)
            try await body(Fixture(apple: apple, url: server.url, client: client))
        }
    }

    /// How many requests the emulator received at a path.
    func requests(to path: String) async throws -> Int {
        let log = try await apple.control("requests")
        let json = try JSONSerialization.jsonObject(with: Data(log.utf8))
        let requests = (json as? [String: Any])?["requests"] as? [[String: Any]] ?? []
        return requests.count { $0["path"] as? String == path }
    }

    static func makeClient(
        _ apple: InProcessApple, _ transport: any SignInWithApple.Transport,
        baseURL: String = "https://appleid.apple.com", maxAttempts: Int = 4,
        observer: (@Sendable (SignInWithAppleEvent) -> Void)? = nil,
        now: (@Sendable () -> Date)? = nil
    ) throws -> SignInWithAppleClient {
        try SignInWithAppleClient(
            teamID: apple.teamID, clientID: apple.client.clientID,
            otherClientIDs: apple.client.clientIDs, key: apple.key, transport: transport,
            baseURL: baseURL, maxAttempts: maxAttempts, observer: observer,
            now: now ?? apple.clock.now)
    }
}

/// A custom transport: another one, whose calls are counted and may be replaced.
final class SpyTransport: SignInWithApple.Transport {
    typealias Replacement = @Sendable (TransportRequest) async throws -> TransportResponse?

    private let base: any SignInWithApple.Transport
    private let paths = Mutex<[String]>([])
    private let replacement: Replacement
    let authenticatesServer: Bool

    init(
        _ base: any SignInWithApple.Transport, authenticatesServer: Bool = true,
        _ replacement: @escaping Replacement = { _ in nil }
    ) {
        (self.base, self.replacement) = (base, replacement)
        self.authenticatesServer = authenticatesServer
    }

    /// The paths that were asked, in their order.
    var requests: [String] { paths.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        paths.withLock { $0.append(request.path) }
        if let response = try await replacement(request) { return response }
        return try await base.send(request)
    }
}

extension TransportRequest {
    var path: String { "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/") }
}

/// The error that `body` throws.
func thrownError<Value>(
    _ body: () async throws(SignInWithAppleError) -> Value
) async throws -> SignInWithAppleError {
    do {
        _ = try await body()
    } catch {
        return error
    }
    throw NothingThrown()
}

struct NothingThrown: Error {}
