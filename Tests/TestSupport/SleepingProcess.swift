internal import Foundation
package import Glibc

/// Whether the kernel says that the process sleeps in a read of standard input.
package func isReadingInput(_ pid: pid_t) -> Bool {
    // The number of read(2) on x86-64 and arm64, and descriptor 0.
    isSleeping(pid, in: ["0 0x0 ", "63 0x0 "])
}

/// Whether the kernel says that the process sleeps in a write to standard output.
package func isWritingOutput(_ pid: pid_t) -> Bool {
    // The number of write(2) on x86-64 and arm64, and descriptor 1.
    isSleeping(pid, in: ["1 0x1 ", "64 0x1 "])
}

/// Whether a signal that was sent to the process still waits to be delivered.
package func hasPendingSignal(_ pid: pid_t) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    let pending = status?.split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }
    return pending?.dropFirst("ShdPnd:".count).contains { !"\t0".contains($0) } == true
}

private func isSleeping(_ pid: pid_t, in calls: [String]) -> Bool {
    let tasks = "/proc/\(pid)/task"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return names.contains { name in
        let call = try? String(contentsOfFile: "\(tasks)/\(name)/syscall", encoding: .utf8)
        return calls.contains { call?.hasPrefix($0) == true }
    }
}
