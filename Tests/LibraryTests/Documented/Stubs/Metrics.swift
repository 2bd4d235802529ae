// swift-format-ignore-file
// Declarations of swift-metrics 2, without their work.

public final class Counter: Sendable {
    public convenience init(label: String, dimensions: [(String, String)] = []) { self.init() }
    init() {}
    public func increment<DataType: BinaryInteger>(by amount: DataType) {}
    public func increment() {}
}

public final class Timer: Sendable {
    public convenience init(label: String, dimensions: [(String, String)] = []) { self.init() }
    init() {}
    public func record(duration: Duration) {}
}
