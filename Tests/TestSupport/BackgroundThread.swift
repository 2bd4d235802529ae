import Glibc

/// Runs `body` on a thread of its own: Swift's pool has one thread per core, and a test that blocks
/// one of them would delay the code that it tests.
package func startThread(_ body: @escaping @Sendable () -> Void) throws {
    let box = Unmanaged.passRetained(ThreadBody(run: body))
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, runBody, box.toOpaque())
    guard code == 0 else {
        box.release()
        throw SystemFailure("pthread_create", code: code)
    }
    pthread_detach(thread)
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
}

private let runBody: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    guard let context = $0 else { return nil }
    Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
