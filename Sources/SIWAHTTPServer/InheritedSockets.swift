internal import Glibc

/// The sockets that the service manager opened for this process (sd_listen_fds(3)).
package struct InheritedSockets: Sendable {
    /// The descriptors by their names.
    package let descriptors: [String: CInt]

    /// Reads the environment variables of the protocol; empty if the sockets belong to another
    /// process.
    package init(_ variables: (String) -> String?, processID: Int = Int(getpid())) {
        guard variables("LISTEN_PID").flatMap({ Int($0) }) == processID,
            let count = variables("LISTEN_FDS").flatMap({ Int($0) }), (1...64).contains(count)
        else {
            descriptors = [:]
            return
        }
        let names = (variables("LISTEN_FDNAMES") ?? "")
            .split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        var descriptors: [String: CInt] = [:]
        for index in 0..<count {
            let name = index < names.count ? names[index] : "unknown"
            if descriptors[name] == nil { descriptors[name] = Self.first + CInt(index) }
        }
        self.descriptors = descriptors
    }

    /// SD_LISTEN_FDS_START.
    private static let first: CInt = 3
}
