// swift-format-ignore-file
// Declarations of async-http-client 1.20, without their work.
import Logging
public import NIOCore
public import NIOHTTP1

public struct HTTPClientError: Error, Equatable {
    public static let connectTimeout = HTTPClientError()
}

public struct HTTPClientRequest: Sendable {
    public struct Body: Sendable {
        public static func bytes<Bytes: RandomAccessCollection & Sendable>(_ bytes: Bytes) -> Self
        where Bytes.Element == UInt8 { Body() }
    }
    public var url: String
    public var method: HTTPMethod = .GET
    public var headers = HTTPHeaders()
    public var body: Body?
    public init(url: String) { self.url = url }
}

public struct HTTPClientResponse: Sendable {
    public struct Body: Sendable {
        public func collect(upTo maxBytes: Int) async throws -> ByteBuffer { ByteBuffer() }
    }
    public var status: HTTPResponseStatus
    public var headers: HTTPHeaders
    public var body: Body
}

public final class HTTPClient: Sendable {
    public struct Configuration: Sendable {
        public struct RedirectConfiguration: Sendable {
            public static let disallow = RedirectConfiguration()
        }
        public init(redirectConfiguration: RedirectConfiguration? = nil) {}
    }
    public init(configuration: Configuration = Configuration()) {}
    public func execute(
        _ request: HTTPClientRequest, timeout: TimeAmount
    ) async throws -> HTTPClientResponse { fatalError() }
}
