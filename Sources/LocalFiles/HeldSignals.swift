internal import Glibc
internal import Synchronization

/// The signal that came while they were held; 0 for none.
private let heldSignal = Atomic<CInt>(0)

/// Makes the first SIGINT, SIGTERM or SIGHUP a wish to be read with ``heldSignalNumber()``, so
/// that a run can end what it has begun. A second one ends the process as ever.
public func holdSignals() {
    _ = heldSignal.load(ordering: .relaxed)
    for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) {
        signal(number) { number in
            let first = heldSignal.compareExchange(
                expected: 0, desired: number, ordering: .sequentiallyConsistent
            ).exchanged
            if !first, signalGate.admits(number) { _exit(128 + number) }
        }
    }
}

/// The signal that asks for the end; nil while none has come.
public func heldSignalNumber() -> CInt? {
    let number = heldSignal.load(ordering: .relaxed)
    return number == 0 ? nil : number
}
