internal import Glibc
internal import Synchronization

/// Numbered slots of 16 bytes on disk, initially zero, in which a long run keeps data about each
/// line with limited memory.
///
/// The file has no name, so that it disappears with the process.
package final class SlotFile: Sendable {
    private let page: Mutex<SlotPage>

    /// Creates an empty file.
    ///
    /// - Parameter folder: the folder of the file, such as `/tmp`.
    /// - Throws: ``FileError``.
    package init(in folder: String) throws(FileError) {
        page = Mutex(try SlotPage(in: folder))
    }

    /// The slot with this number, from 0.
    ///
    /// - Throws: ``FileError``.
    package func slot(_ number: Int) throws(FileError) -> SIMD2<UInt64> {
        try page.withLock { page throws(FileError) in try page.slot(number) }
    }

    /// Replaces the slot with this number, from 0.
    ///
    /// - Throws: ``FileError``.
    package func set(_ number: Int, to slot: SIMD2<UInt64>) throws(FileError) {
        try page.withLock { page throws(FileError) in try page.set(number, to: slot) }
    }
}

/// The page of the file that was used last. Lines are read in their order, and results arrive
/// nearly in that order, so most slots are in this page.
private struct SlotPage: ~Copyable {
    private let descriptor: CInt
    private let folder: String
    private var slots = [SIMD2<UInt64>](repeating: .zero, count: pageSize)
    private var number = 0
    private var isChanged = false

    private static var pageSize: Int { 256 }
    private static var slotSize: Int { 16 }

    init(in folder: String) throws(FileError) {
        self.folder = folder
        descriptor = try makeUnlinkedFile(in: folder)
    }

    deinit { close(descriptor) }

    mutating func slot(_ number: Int) throws(FileError) -> SIMD2<UInt64> {
        try loadPage(number / Self.pageSize)
        return slots[number % Self.pageSize]
    }

    mutating func set(_ number: Int, to slot: SIMD2<UInt64>) throws(FileError) {
        try loadPage(number / Self.pageSize)
        slots[number % Self.pageSize] = slot
        isChanged = true
    }

    private mutating func loadPage(_ next: Int) throws(FileError) {
        guard next != number else { return }
        if isChanged {
            let written = try temporaryFile("write", in: folder) {
                slots.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, offset) }
            }
            guard written == Self.pageSize * Self.slotSize else {
                throw FileError("write a temporary file in", folder, reason: "it is cut short")
            }
        }
        (number, isChanged) = (next, false)
        let place = offset
        let got = try temporaryFile("read", in: folder) {
            slots.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, place) }
        }
        // Slots that were never written are beyond the end of the file.
        for index in got / Self.slotSize..<Self.pageSize { slots[index] = .zero }
    }

    private var offset: off_t { off_t(number * Self.pageSize * Self.slotSize) }
}
