internal import CMicroHTTPD
internal import Synchronization

/// A body that is written while it is sent, between the task that writes it and libmicrohttpd's
/// thread that sends it.
///
/// While there is nothing to send the connection is suspended: no thread waits, and nothing is
/// polled. The task continues only once everything was taken, so that a client that does not
/// read holds up one piece of text and nothing else; the idle timeout then ends the connection.
///
/// Who frees this: the response that sends it retains it, and releases it when it is freed.
package final class BodyWriter: Sendable {
    private struct State {
        var waiting: ArraySlice<UInt8> = []
        var isSuspended = false
        /// The task has nothing more to write.
        var hasEnded = false
        /// The connection is gone.
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

    /// Writes some bytes and waits until they are taken; false once the connection is gone.
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

    /// Ends the stream: the connection is libmicrohttpd's again.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            resume(&state)
        }
    }

    /// Gives libmicrohttpd what there is; called on its thread.
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

    /// The response is freed: the connection is gone.
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
