import Glibc

/// The processor time of all processes outside this session: what else the machine did meanwhile.
struct OtherWork {
    private let seconds: [Int: Double]
    private let time = now()

    /// The times so far.
    init() {
        var seconds: [Int: Double] = [:]
        let session = getsid(0)
        guard let folder = opendir("/proc") else {
            self.seconds = [:]
            return
        }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let pid = Int(name), let process = Process(pid), process.session != session
            else { continue }
            seconds[pid] = process.seconds
        }
        self.seconds = seconds
    }

    /// The processors that they used since `earlier`; those of processes that have ended are not
    /// counted.
    func processors(since earlier: OtherWork) -> Double {
        let used = seconds.reduce(0.0) { $0 + max($1.value - (earlier.seconds[$1.key] ?? 0), 0) }
        return used / max(time - earlier.time, 0.001)
    }

    private struct Process {
        let session: pid_t
        let seconds: Double

        init?(_ pid: Int) {
            guard let file = fopen("/proc/\(pid)/stat", "r") else { return nil }
            defer { fclose(file) }
            var bytes = [CChar](repeating: 0, count: 1024)
            guard fgets(&bytes, CInt(bytes.count), file) != nil else { return nil }
            let text = String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            // The name before the parenthesis may contain spaces.
            guard let end = text.lastIndex(of: ")") else { return nil }
            let fields = text[text.index(after: end)...].split(separator: " ")
            guard fields.count > 12, let session = pid_t(fields[3]), let user = Double(fields[11]),
                let system = Double(fields[12])
            else { return nil }
            self.session = session
            seconds = (user + system) / Double(sysconf(CInt(_SC_CLK_TCK)))
        }
    }
}
