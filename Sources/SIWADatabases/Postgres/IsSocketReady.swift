internal import Glibc

/// Waits until a socket is ready for one of `events`, or broken.
///
/// - Returns: false if the time, in milliseconds, passed or a signal arrived.
func isSocketReady(_ socket: CInt, for events: CInt, within milliseconds: CInt) -> Bool {
    var socket = pollfd(fd: socket, events: Int16(events), revents: 0)
    let count = poll(&socket, 1, milliseconds)
    return count > 0 || count < 0 && errno != EINTR
}
