internal import SIWACommandTable

/// A TCP port; 0 chooses any free one.
struct PortNumber: ParameterValue, Hashable {
    let number: UInt16

    init(_ number: UInt16) { self.number = number }

    init?(argument: String) {
        guard let number = UInt16(argument) else { return nil }
        self.number = number
    }

    static var expectation: String { "a port, 0 to 65535" }

    var argumentDescription: String { String(number) }
}
