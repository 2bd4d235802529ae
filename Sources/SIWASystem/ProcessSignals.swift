internal import Glibc
internal import Synchronization

/// The effect of the signals that ask the process to end.
package enum SignalPolicy: Int, Sendable {
    /// The first one ends the process.
    case end
    /// The first one is recorded, and a second one ends the process.
    case recordFirst
    /// They are recorded; only the watchdog ends the process.
    case record
}

/// The state of a single-use code, whose tokens only this process has until it delivers them. The
/// watchdog reports it when it ends a process that hangs.
package enum SpentCode: Int, Sendable, CaseIterable {
    /// No code was sent, or its result was delivered.
    case none
    /// It was sent, but not answered yet.
    case sent
    /// Its tokens are neither stored nor delivered.
    case exchanged
    /// Its refresh token is being stored.
    case storing
    /// Its refresh token is in the vault.
    case stored
    /// Its token was revoked.
    case revoked

    /// The end of the watchdog's message.
    fileprivate var message: StaticString {
        switch self {
        case .none: "\n"
        case .sent:
            """
            ; the code was sent, and it is unknown whether it is spent
            hint: ask the user to sign in again\n
            """
        case .exchanged:
            """
            ; the code is spent, and its tokens were neither delivered nor stored
            hint: ask the user to sign in again\n
            """
        case .storing:
            """
            ; the code is spent, its tokens were not delivered, and it is unknown whether the \
            refresh token was stored
            hint: 'siwa vault list' shows whether the vault has it; else ask the user to sign in \
            again\n
            """
        case .stored:
            """
            ; the code is spent, and its tokens were not delivered; the refresh token is stored \
            in the vault
            hint: read it with 'siwa refresh --user' or 'siwa vault export --reveal'\n
            """
        case .revoked:
            "; the code is spent and its token was revoked, but the result was not delivered\n"
        }
    }
}

/// The process's signals. One handler receives all of them: it only uses atomic values and the
/// functions that signal-safety(7) lists.
package enum ProcessSignals {
    /// Handles the signals that ask the process to end from now on, as ``SignalPolicy/end``: the
    /// process exits with 128 and the signal's number. A signal that the parent process had blocked
    /// arrives now; one that it had ignored stays ignored, as `nohup` expects.
    ///
    /// Must be called before other threads start, because they inherit what is blocked.
    ///
    /// Files that are being written are completed first; see ``SignalGate``.
    ///
    /// - Parameter program: the name with which messages begin.
    package static func handle(for program: StaticString) {
        programName = program
        // Initialized here, because a handler must not be the first to use a global.
        _ = signalGate.admits(0)
        signalState.reset()
        for number in endingSignals where !isIgnored(number) {
            signal(number) { handleEndingSignal($0) }
        }
        signal(SIGALRM) { _ in handleAlarm() }
        unblock(endingSignals + [SIGALRM])
        reportCrashes()
    }

    /// On a defect or exhausted memory, ends the process with a message and a documented exit code.
    /// With `SWIFT_BACKTRACE`, Swift's own crash report is printed instead.
    private static func reportCrashes() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        // The usual stack may be exhausted.
        var stack = stack_t()
        stack.ss_size = 32 << 10
        stack.ss_sp = UnsafeMutableRawPointer.allocate(byteCount: stack.ss_size, alignment: 16)
        sigaltstack(&stack, nil)
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in handleCrash() }
            action.sa_flags = SA_ONSTACK
            sigaction(number, &action, nil)
        }
    }

    /// The first signal that was recorded; nil if there was none.
    package static var received: CInt? {
        let number = signalState.received.load(ordering: .sequentiallyConsistent)
        return number == 0 ? nil : number
    }

    /// Counts SIGHUP from now on, which then no longer ends the process; see ``hangUps``.
    package static func countHangUps() {
        signal(SIGHUP) { _ in
            let savedErrno = errno
            signalState.hangUps.add(1, ordering: .sequentiallyConsistent)
            WakeUp.main.post()
            errno = savedErrno
        }
    }

    /// The number of SIGHUPs counted.
    package static var hangUps: Int { signalState.hangUps.load(ordering: .sequentiallyConsistent) }

    /// Sets what signals do from now on.
    ///
    /// - Parameters:
    ///   - watchdog: after a signal is recorded, or now if one was, the process ends after this many
    ///     seconds, even if it hangs.
    ///   - code: the state of a code that the watchdog reports.
    package static func apply(
        _ policy: SignalPolicy, watchdog: UInt32, code: SpentCode = .none
    ) {
        signalState.code.store(code.rawValue, ordering: .sequentiallyConsistent)
        signalState.watchdog.store(watchdog, ordering: .sequentiallyConsistent)
        signalState.policy.store(policy.rawValue, ordering: .sequentiallyConsistent)
        if received != nil { startWatchdog(watchdog) }
    }

    /// Ends the process after this many seconds, even if it hangs. A signal that is recorded
    /// earlier sets another alarm.
    package static func setAlarm(after seconds: UInt32, exitCode: CInt) {
        signalState.overdueExitCode.store(exitCode, ordering: .sequentiallyConsistent)
        startWatchdog(seconds)
        // A signal that has arrived in the meantime has its own limit.
        guard received != nil else { return }
        startWatchdog(signalState.watchdog.load(ordering: .sequentiallyConsistent))
    }

    /// Reports an end that the process does not report itself as a JSON line.
    package static func reportEndsAsJSON() {
        signalState.writesJSON.store(true, ordering: .sequentiallyConsistent)
    }

    private static func unblock(_ numbers: [CInt]) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}

private let endingSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU]
/// Set before the handlers are, and never again.
private nonisolated(unsafe) var programName: StaticString = ""

/// The state that the handlers share with the program.
private final class SignalState: Sendable {
    let policy = Atomic<Int>(0)
    let received = Atomic<CInt>(0)
    let hangUps = Atomic<Int>(0)
    let watchdog = Atomic<UInt32>(0)
    let code = Atomic<Int>(SpentCode.none.rawValue)
    let overdueExitCode = Atomic<CInt>(0)
    let writesJSON = Atomic<Bool>(false)
    /// When the watchdog ends the process, by the monotonic clock in milliseconds; 0 for never.
    let deadline = Atomic<Int>(0)

    func reset() {
        policy.store(SignalPolicy.end.rawValue, ordering: .sequentiallyConsistent)
        received.store(0, ordering: .sequentiallyConsistent)
    }
}

private let signalState = SignalState()

private func handleEndingSignal(_ number: CInt) {
    let savedErrno = errno
    defer { errno = savedErrno }
    let isFirst = signalState.received.compareExchange(
        expected: 0, desired: number, ordering: .sequentiallyConsistent
    ).exchanged
    let policy = signalState.policy.load(ordering: .sequentiallyConsistent)
    let ends =
        policy == SignalPolicy.end.rawValue
        || policy == SignalPolicy.recordFirst.rawValue && !isFirst
    if ends {
        if signalGate.admits(number) { _exit(128 + number) }
    } else if isFirst {
        startWatchdog(signalState.watchdog.load(ordering: .sequentiallyConsistent))
        WakeUp.main.post()
    }
}

/// Lets the watchdog end the process after this many seconds, in place of any earlier limit. Safe in
/// a signal handler.
private func startWatchdog(_ seconds: UInt32) {
    signalState.deadline.store(
        monotonicMilliseconds() + 1000 * Int(seconds), ordering: .sequentiallyConsistent)
    alarm(seconds)
}

/// `alarm(2)` uses the same clock.
private func monotonicMilliseconds() -> Int {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

/// The watchdog: the process hangs. A SIGALRM that another process sends before the limit is
/// ignored.
private func handleAlarm() {
    let savedErrno = errno
    defer { errno = savedErrno }
    let deadline = signalState.deadline.load(ordering: .sequentiallyConsistent)
    guard deadline != 0, monotonicMilliseconds() >= deadline else { return }
    let number = signalState.received.load(ordering: .sequentiallyConsistent)
    let code = signalState.code.load(ordering: .sequentiallyConsistent)
    let message = (SpentCode(rawValue: code) ?? .none).message
    guard number == 0 else {
        end(": stopped: it hung after a signal asked it to end", message, 128 + number)
    }
    end(
        ": timeout: it hung beyond --timeout", message,
        signalState.overdueExitCode.load(ordering: .sequentiallyConsistent))
}

/// The program has a defect, or memory is exhausted.
private func handleCrash() {
    let unknown = signalState.overdueExitCode.load(ordering: .sequentiallyConsistent) == 7
    end(
        ": defect: it crashed; if memory is limited (ulimit -v), raise the limit", "\n",
        unknown ? 7 : 70)
}

/// Ends the process from within a signal handler; the text begins after the program's name.
private func end(_ text: StaticString, _ rest: StaticString, _ exitCode: CInt) -> Never {
    // A pipe without a reader must not keep the process alive.
    var readiness = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    if poll(&readiness, 1, 0) == 1 {
        let isJSON = signalState.writesJSON.load(ordering: .sequentiallyConsistent)
        if isJSON { writeError(#"{"level":"error","event":"ended","message":""#) }
        writeError(programName)
        writeError(text)
        writeError(isJSON ? "\"}\n" : rest)
    }
    _exit(exitCode)
}

private func writeError(_ text: StaticString) {
    _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
}

/// A shell starts background jobs with SIGINT ignored; that is respected.
private func isIgnored(_ number: CInt) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    // Handlers are C function pointers, which Swift cannot compare; SIG_IGN is address 1.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
}
