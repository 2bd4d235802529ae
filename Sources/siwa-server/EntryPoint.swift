internal import Glibc
internal import Lifecycle
internal import LocalFiles
internal import SIWAServer

/// The entry point that C starts, under the name by which SwiftPM links an executable's `main`; see
/// that of `siwa`.
@_cdecl("siwa_server_main")
func runProcess(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    let arguments = unsafe prepareProcess(count, arguments)
    ProcessSignals.handle(for: "siwa-server")
    let world = ServerWorld.real(stop: WakeSignal(), reload: WakeSignal())
    Task { _exit(await runServer(arguments, in: world)) }
    while true {
        WakeUp.main.wait()
        if ProcessSignals.received != nil, world.stop.count == 0 { world.stop.notify() }
        while world.reload.count < ProcessSignals.hangUps { world.reload.notify() }
    }
}
