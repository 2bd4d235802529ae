internal import Glibc
internal import Lifecycle
internal import LocalFiles

/// The entry point that C starts, under the name by which SwiftPM links an executable's `main`; see
/// that of `siwa`.
@_cdecl("siwa_emulator_main")
func runProcess(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    let arguments = unsafe prepareProcess(count, arguments)
    ProcessSignals.handle(for: "siwa-emulator")
    let stop = WakeSignal()
    Task { exit(await runEmulator(arguments, until: stop)) }
    while true {
        WakeUp.main.wait()
        if ProcessSignals.received != nil { stop.notify() }
    }
}
