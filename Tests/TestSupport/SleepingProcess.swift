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

private func isSleeping(_ pid: pid_t, in calls: [String]) -> Bool {
    let tasks = "/proc/\(pid)/task"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return names.contains { name in
        let call = try? String(contentsOfFile: "\(tasks)/\(name)/syscall", encoding: .utf8)
        return calls.contains { call?.hasPrefix($0) == true }
    }
}
