internal import Glibc

/// Whether a process of this user has run a command of a program for longer than a time. Processes that
/// others may not see (`hidepid`) are not found.
///
/// - Parameters:
///   - program: the name of the program's file.
///   - command: its first argument.
package func isRunning(_ program: String, _ command: String, longerThan age: Duration) -> Bool {
    guard let folder = opendir("/proc") else { return false }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if let process = RunningProcess(name), process.runs(program, command), process.age > age {
            return true
        }
    }
    return false
}

/// A process of this user, as proc(5) describes it.
private struct RunningProcess {
    private let folder: String

    /// Nil for a name that is no process of this user.
    init?(_ name: String) {
        guard Int(name) != nil else { return nil }
        folder = "/proc/\(name)/"
        var status = stat()
        guard stat(folder, &status) == 0, status.st_uid == geteuid() else { return nil }
    }

    func runs(_ program: String, _ command: String) -> Bool {
        let words = Self.text(folder + "cmdline").split(separator: "\0")
        return words.first?.split(separator: "/").last == program[...]
            && words.dropFirst().first == command[...]
    }

    var age: Duration {
        // The name, in parentheses, may have spaces; the start, in ticks, is the 20th word after it.
        let words =
            Self.text(folder + "stat").split(separator: ")").last?.split(separator: " ") ?? []
        let uptime = Self.text("/proc/uptime").split(separator: " ").first.flatMap { Double($0) }
        guard words.count > 19, let start = Double(words[19]), let uptime else { return .zero }
        return .seconds(uptime - start / Double(sysconf(CInt(_SC_CLK_TCK))))
    }

    private static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, buffer.count))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
