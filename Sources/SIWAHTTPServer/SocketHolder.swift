internal import Glibc

extension ListenAddress {
    /// Whether a process of this user listens there now, as far as the system tells.
    package var isHeldByThisUser: Bool {
        switch self {
        case .tcp(_, let port):
            ["/proc/net/tcp", "/proc/net/tcp6"].contains { Self.listeners(in: $0, on: port) }
        case .unix(let path, _): UnixSocket(path: path, group: nil).holder == geteuid()
        case .inherited: false
        }
    }

    /// Whether a line of the system's table is a listening socket of this user: the second field is
    /// the address, the fourth the state, the eighth the user.
    private static func listeners(in table: String, on port: UInt16) -> Bool {
        guard let file = fopen(table, "re") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            let fields = text.split(separator: " ")
            guard fields.count > 7, let place = fields[1].split(separator: ":").last else {
                continue
            }
            if UInt16(place, radix: 16) == port, fields[3] == "0A",
                uid_t(fields[7]) == geteuid()
            {
                return true
            }
        }
        return false
    }
}
