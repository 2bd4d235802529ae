internal import Glibc
internal import SIWACLI
internal import SIWACrypto
internal import SIWAEntryPoint
internal import SIWALifecycle
internal import SIWASystem
internal import SIWAWiring

private let mainThread = MainThread()

/// Whether a command may have several threads that allocate much. A value that looks like the name of
/// one costs a start a few page faults.
private func hasBusyThreads(_ arguments: [String]) -> Bool {
    arguments.contains { $0 == "batch" || $0 == "migrate" || $0 == "vault" }
}

/// The entry point that C starts, under the name by which SwiftPM links an executable's `main`.
///
/// Swift's own entry point would ignore these arguments: `CommandLine` reads them from
/// `/proc`.
@_cdecl("siwa_main")
func runProcess(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    let arguments = unsafe prepareProcess(count, arguments)
    if !hasBusyThreads(arguments ?? []) { shareHeap() }
    ProcessSignals.handle(for: "siwa")
    let arrival = WakeSignal()
    Task(executorPreference: mainThread) {
        // All output is written. exit would only free the libraries' memory, which is unnecessary.
        let exitCode = await runSIWA(arguments, in: .real(.ofProcess(arrival)))
        endSessionPrograms()
        _exit(exitCode)
    }
    mainThread.run {
        if arrival.count == 0, ProcessSignals.received != nil { arrival.notify() }
    }
}
