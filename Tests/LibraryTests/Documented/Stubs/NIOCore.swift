// swift-format-ignore-file
// Declarations of swift-nio 2, without their work: the documentation's code must compile with them.

public struct TimeAmount: Hashable, Sendable {
    public let nanoseconds: Int64
    public init(_ duration: Swift.Duration) { nanoseconds = duration.components.seconds }
}

public struct ByteBufferView: RandomAccessCollection, Sendable {
    public let startIndex = 0
    public let endIndex = 0
    public subscript(_ index: Int) -> UInt8 { 0 }
}

public struct ByteBuffer: Sendable {
    public init() {}
    public var readableBytesView: ByteBufferView { ByteBufferView() }
}
