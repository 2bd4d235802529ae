internal import Glibc
internal import SIWAEntryPoint
internal import SIWALifecycle
internal import SIWAServer
internal import SIWASystem

private let mainThread = MainThread()

/// The entry point that C starts, under the name by which SwiftPM links an executable's `main`; see
/// that of `siwa`.
@_cdecl("siwa_server_main")
func runProcess(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    let arguments = unsafe prepareProcess(count, arguments)
    ProcessSignals.handle(for: "siwa-server")
    let world = ServerWorld.real(stop: WakeSignal(), reload: WakeSignal())
    Task(executorPreference: mainThread) {
        let exitCode = await runServer(arguments, in: world)
        endSessionPrograms()
        _exit(exitCode)
    }
    mainThread.run {
        if ProcessSignals.received != nil, world.stop.count == 0 { world.stop.notify() }
        while world.reload.count < ProcessSignals.hangUps { world.reload.notify() }
    }
}
