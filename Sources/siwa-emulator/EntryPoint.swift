internal import Glibc
internal import SIWAEntryPoint
internal import SIWALifecycle
internal import SIWASystem

private let mainThread = MainThread()

/// The entry point that C starts, under the name by which SwiftPM links an executable's `main`; see
/// that of `siwa`.
@_cdecl("siwa_emulator_main")
func runProcess(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    let arguments = unsafe prepareProcess(count, arguments)
    ProcessSignals.handle(for: "siwa-emulator")
    let stop = WakeSignal()
    Task(executorPreference: mainThread) { exit(await runEmulator(arguments, until: stop)) }
    mainThread.run {
        if ProcessSignals.received != nil { stop.notify() }
    }
}
