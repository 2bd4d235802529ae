// swift-format-ignore-file
// Declarations of swift-nio 2, without their work.

public struct HTTPHeaders: RandomAccessCollection, Sendable {
    public typealias Element = (name: String, value: String)
    public init(_ headers: [(String, String)] = []) {}
    public let startIndex = 0
    public let endIndex = 0
    public subscript(_ index: Int) -> Element { ("", "") }
}

public enum HTTPMethod: RawRepresentable, Hashable, Sendable {
    case GET, POST
    case RAW(value: String)
    public var rawValue: String { "" }
    public init(rawValue: String) { self = .RAW(value: rawValue) }
}

public struct HTTPResponseStatus: Sendable {
    public var code: UInt { 200 }
}
