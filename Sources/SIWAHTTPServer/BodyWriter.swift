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

        /// Lets the task continue.
        mutating func release() {
            writer?.resume()
            writer = nil
        }
    }

    private let state = Mutex(State())
    private let connection: Connection

    init(on connection: Connection) { self.connection = connection }

    /// Writes some bytes and waits until they are sent; returns false if the connection is closed.
    package func write(_ bytes: [UInt8]) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    guard !state.isClosed, !Task.isCancelled else {
                        continuation.resume()
                        return
                    }
                    state.writer = continuation
                    state.waiting = bytes[...]
                    resume(&state)
                }
            }
        } onCancel: {
            state.withLock { $0.release() }
        }
        return state.withLock { !$0.isClosed }
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
        state.withLock { state in
            if !state.waiting.isEmpty {
                let part = state.waiting.prefix(room)
                for (index, byte) in part.enumerated() { buffer[index] = CChar(bitPattern: byte) }
                state.waiting = state.waiting.dropFirst(part.count)
                return part.count
            }
            state.release()
            guard !state.hasEnded else { return siwa_content_end() }
            state.isSuspended = true
            connection.suspend()
            return 0
        }
    }

    /// Called when the response is freed: the connection is closed.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.release()
        }
    }

    /// A suspended connection exists until it is resumed.
    private func resume(_ state: inout State) {
        guard state.isSuspended, !state.isClosed else { return }
        state.isSuspended = false
        connection.resume()
    }
}
