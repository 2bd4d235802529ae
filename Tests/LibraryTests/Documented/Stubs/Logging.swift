// swift-format-ignore-file
// Declarations of swift-log 1, without their work.

public struct Logger: Sendable {
    public struct Message: ExpressibleByStringInterpolation, Sendable {
        public init(stringLiteral value: String) {}
    }
    public enum MetadataValue: ExpressibleByStringInterpolation, Sendable {
        case string(String)
        public init(stringLiteral value: String) { self = .string(value) }
    }
    public typealias Metadata = [String: MetadataValue]
    public enum Level: Sendable { case debug, info, warning, error }
    public init(label: String) {}
    public func log(
        level: Level, _ message: @autoclosure () -> Message,
        metadata: @autoclosure () -> Metadata? = nil, source: @autoclosure () -> String? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {}
}
