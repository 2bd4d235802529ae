internal import Glibc

/// Waits until a socket is ready for one of `events`, or broken.
///
/// - Returns: false when the time, in milliseconds, was over first or a signal came.
func isSocketReady(_ socket: CInt, for events: CInt, within milliseconds: CInt) -> Bool {
    var socket = pollfd(fd: socket, events: Int16(events), revents: 0)
    let count = poll(&socket, 1, milliseconds)
    return count > 0 || count < 0 && errno != EINTR
}
