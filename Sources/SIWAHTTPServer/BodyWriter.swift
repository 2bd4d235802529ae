internal import SIWACMicroHTTPD
internal import Synchronization

/// A streamed body: connects the task that writes it with libmicrohttpd's thread that sends it.
///
/// While there is nothing to send, the connection is suspended: no thread waits or polls. The task
/// continues only after the previous bytes were sent, so a client that does not read costs one
/// chunk of memory; the idle timeout then closes the connection.
///
/// Ownership: the response that sends it retains it, and releases it when it is freed.
package final class BodyWriter: Sendable {
    private struct State {
        var waiting: ArraySlice<UInt8> = []
        var isSuspended = false
        /// The task has nothing more to write.
        var hasEnded = false
        /// The connection is closed.
        var isClosed = false
        var writer: CheckedContinuation<Void, Never>?

        /// The task that waits, if one does; the caller has to resume it.
        mutating func takeWriter() -> CheckedContinuation<Void, Never>? {
            exchange(&writer, with: nil)
        }
    }

    // The task is resumed after this lock is released: resuming takes the task's lock, which a thread
    // that cancels the task holds while it waits for this one.
    private let state = Mutex(State())
    private let connection: Connection

    init(on connection: Connection) { self.connection = connection }

    /// Writes some bytes and waits until they are sent; returns false if the connection is closed, or
    /// the task is cancelled.
    package func write(_ bytes: [UInt8]) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    guard !state.isClosed, !Task.isCancelled else { return false }
                    state.writer = continuation
                    state.waiting = bytes[...]
                    resume(&state)
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeWriter() }?.resume()
        }
        return !Task.isCancelled && state.withLock { !$0.isClosed }
    }

    /// Ends the stream; libmicrohttpd then continues with the connection.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            resume(&state)
        }
    }

    /// Copies waiting bytes into libmicrohttpd's buffer; called on its thread.
    func read(into buffer: UnsafeMutablePointer<CChar>, room: Int) -> Int {
        let (count, sent) = state.withLock { state -> (Int, CheckedContinuation<Void, Never>?) in
            if !state.waiting.isEmpty {
                let part = state.waiting.prefix(room)
                for (index, byte) in part.enumerated() { buffer[index] = CChar(bitPattern: byte) }
                state.waiting = state.waiting.dropFirst(part.count)
                return (part.count, nil)
            }
            let writer = state.takeWriter()
            guard !state.hasEnded else { return (siwa_content_end(), writer) }
            state.isSuspended = true
            connection.suspend()
            return (0, writer)
        }
        sent?.resume()
        return count
    }

    /// Called when the response is freed: the connection is closed.
    func close() {
        let writer = state.withLock { state in
            state.isClosed = true
            return state.takeWriter()
        }
        writer?.resume()
    }

    /// A suspended connection exists until it is resumed.
    private func resume(_ state: inout State) {
        guard state.isSuspended, !state.isClosed else { return }
        state.isSuspended = false
        connection.resume()
    }
}
