internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

/// Reads an item from the text of a line and its number.
typealias ItemReading<Item> = @Sendable (SecretBytes, Int) throws(InvalidLine) -> Item

extension InputLine {
    /// The item of the line; nil for an empty line.
    ///
    /// - Throws: ``InvalidLine``.
    func item<Item>(_ read: ItemReading<Item>) throws(InvalidLine) -> Item? {
        guard let bytes else { throw .tooLong }
        return bytes.isBlank ? nil : try read(bytes, number)
    }
}

extension InvalidLine {
    static func repeatedID(_ id: JSON) -> Self {
        Self(id, "an earlier line has the same id")
    }

    static let tooLong = Self(nil, "the line is longer than any item")
}

extension SecretBytes {
    var isBlank: Bool {
        withSpan { bytes in bytes.indices.allSatisfy { [0x20, 0x09, 0x0D].contains(bytes[$0]) } }
    }
}
