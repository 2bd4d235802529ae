internal import Glibc

/// Secret bytes: overwritten when their last owner releases them.
package final class SecretBytes: Sendable {
    /// Written once, before this object is shared; read-only afterwards.
    @usableFromInline
    nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    /// The number of bytes.
    package let count: Int

    /// Takes over `storage`, whose first `count` bytes are the secret.
    fileprivate init(adopting storage: UnsafeMutableRawBufferPointer, count: Int) {
        self.storage = storage
        self.count = count
    }

    /// Copies `bytes`; the caller must overwrite the original.
    @specialized(where Bytes == String.UTF8View)
    @specialized(where Bytes == [UInt8])
    package convenience init<Bytes: Sequence<UInt8>>(_ bytes: Bytes) {
        var buffer = SecretBuffer(capacity: bytes.underestimatedCount)
        buffer.append(contentsOf: bytes)
        let (storage, count) = buffer.surrender()
        self.init(adopting: storage, count: count)
    }

    deinit { storage.eraseAndDeallocate() }

    /// Lends the bytes for the length of `body`.
    @inlinable
    package func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes { bytes throws(Failure) in try body(Span(_unsafeBytes: bytes)) }
    }

    /// Lends the bytes to C, which must not keep the pointer.
    @inlinable
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: storage.baseAddress, count: count))
    }

    /// A copy that is not overwritten, for sending or printing it.
    package func revealed() -> [UInt8] {
        [UInt8](UnsafeRawBufferPointer(rebasing: storage[..<count]))
    }
}

/// A growing secret that leaves no copies: memory is overwritten before it is freed.
package struct SecretBuffer: ~Copyable {
    private var storage: UnsafeMutableRawBufferPointer

    /// The number of appended bytes.
    package private(set) var count = 0

    /// Creates a buffer with a capacity; 0 takes no memory until something is appended.
    package init(capacity: Int = 256) {
        storage =
            capacity > 0
            ? .allocate(max(capacity, 16)) : UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    deinit { storage.eraseAndDeallocate() }

    /// Appends one byte.
    package mutating func append(_ byte: UInt8) {
        reserve(1)
        storage[count] = byte
        count += 1
    }

    /// Appends a sequence of bytes.
    @specialized(where Bytes == String.UTF8View)
    @specialized(where Bytes == [UInt8])
    package mutating func append<Bytes: Sequence<UInt8>>(contentsOf bytes: Bytes) {
        let copied: Void? = bytes.withContiguousStorageIfAvailable {
            append(contentsOf: UnsafeRawBufferPointer($0))
        }
        guard copied == nil else { return }
        for byte in bytes { append(byte) }
    }

    /// Appends lent bytes.
    package mutating func append(contentsOf bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { append(contentsOf: $0) }
    }

    /// Appends bytes that C lends during the call.
    package mutating func append(contentsOf bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// Lets C write up to `capacity` further bytes; `fill` returns the number of bytes written, or
    /// -1.
    package mutating func append<Failure: Error>(
        upTo capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        reserve(capacity)
        let room = UnsafeMutableRawBufferPointer(rebasing: storage[count..<count + capacity])
        let written = try fill(room)
        count += max(written, 0)
        return written
    }

    /// Returns the secret without copying it.
    package consuming func finished() -> SecretBytes {
        let (storage, count) = surrender()
        return SecretBytes(adopting: storage, count: count)
    }

    /// Transfers the memory to an owner that overwrites it.
    fileprivate consuming func surrender() -> (UnsafeMutableRawBufferPointer, Int) {
        // C functions take an address for nothing, too, and may give null another meaning.
        let parts = (storage.baseAddress == nil ? .allocate(16) : storage, count)
        discard self
        return parts
    }

    private mutating func reserve(_ more: Int) {
        guard count + more > storage.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            max(storage.count * 2, count + more, 16))
        larger.copyMemory(from: UnsafeRawBufferPointer(storage))
        storage.eraseAndDeallocate()
        storage = larger
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Allocates memory with malloc: Swift's own `allocate` always takes the slower way for an
    /// alignment.
    fileprivate static func allocate(_ count: Int) -> Self {
        guard let memory = malloc(count) else { fatalError("out of memory") }
        return Self(start: memory, count: count)
    }

    /// Overwrites the memory, in a way that the optimiser keeps, and frees it.
    fileprivate func eraseAndDeallocate() {
        if let baseAddress { explicit_bzero(baseAddress, count) }
        free(baseAddress)
    }
}
