// swift-format-ignore-file
// Declarations of swift-distributed-tracing 1, without their work.

public enum SpanKind: Sendable { case client, `internal` }

public protocol TracerInstant: Comparable, Hashable, Sendable {
    var nanosecondsSinceEpoch: UInt64 { get }
}

public struct DefaultTracerClock {
    public struct Timestamp: TracerInstant {
        public let nanosecondsSinceEpoch: UInt64
        public init(nanosecondsSinceEpoch: UInt64) {
            self.nanosecondsSinceEpoch = nanosecondsSinceEpoch
        }
        public static func < (lhs: Self, rhs: Self) -> Bool {
            lhs.nanosecondsSinceEpoch < rhs.nanosecondsSinceEpoch
        }
    }
    public static var now: Timestamp { Timestamp(nanosecondsSinceEpoch: 0) }
}

public enum SpanAttribute: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case int64(Int64)
    case string(String)
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .int64(value) }
}

public struct SpanAttributes: Sendable {
    public subscript(_ name: String) -> SpanAttribute? {
        get { nil }
        set {}
    }
}

public struct SpanStatus: Sendable {
    public enum Code: Sendable { case ok, error }
    public init(code: Code, message: String? = nil) {}
}

public protocol Span: Sendable {
    var attributes: SpanAttributes { get nonmutating set }
    func setStatus(_ status: SpanStatus)
    func end()
}

private struct NoSpan: Span {
    var attributes: SpanAttributes {
        get { SpanAttributes() }
        nonmutating set {}
    }
    func setStatus(_ status: SpanStatus) {}
    func end() {}
}

public func startSpan(
    _ operationName: String, ofKind kind: SpanKind = .internal,
    at instant: @autoclosure () -> some TracerInstant = DefaultTracerClock.now,
    function: String = #function, file fileID: String = #fileID, line: UInt = #line
) -> any Span { NoSpan() }
