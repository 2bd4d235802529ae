internal import Glibc

/// A file descriptor, closed when its owner is released.
struct Descriptor: ~Copyable {
    let number: CInt

    init(adopting number: CInt) { self.number = number }

    deinit { close(number) }

    /// Transfers ownership to the caller.
    consuming func release() -> CInt {
        let number = self.number
        discard self
        return number
    }

    /// Another descriptor of the same socket or file; nil if none is available.
    static func copy(of number: CInt) -> Descriptor? {
        // 0 to 2 are reserved for the standard streams, even when those are closed.
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        return copy < 0 ? nil : Descriptor(adopting: copy)
    }
}
