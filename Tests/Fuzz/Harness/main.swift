// One fuzz target under libFuzzer: built by `make fuzz` alone (docs/testing.md).

internal import Dispatch
internal import Glibc
internal import SIWAFuzzTargets

/// libFuzzer's `main` without the name, which SwiftPM keeps for a program's own.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ testOneInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Chosen by the environment: the arguments are libFuzzer's.
private func chosenTarget() -> FuzzTarget {
    let name = getenv("SIWA_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        fatalError("set SIWA_FUZZ_TARGET to one of \(names)")
    }
    return target
}

/// Runs the whole check. Most of it runs on this thread; a command that waits and tries again goes
/// on on another one. libFuzzer notices a check that does not end.
private func check(_ input: [UInt8], _ target: FuzzTarget) {
    let end = DispatchSemaphore(value: 0)
    Task.immediate {
        do throws(Violation) {
            try await target.check(input)
        } catch {
            fatalError("\(target.rawValue): \(error)")
        }
        end.signal()
    }
    end.wait()
}

private let target = chosenTarget()
private var count = CommandLine.argc
private var arguments = CommandLine.unsafeArgv
exit(
    runDriver(&count, &arguments) { start, count in
        check(Array(UnsafeBufferPointer(start: start, count: count)), target)
        return 0
    })
