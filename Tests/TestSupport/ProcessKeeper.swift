package import Glibc

/// Kills the programs of this test process when it ends in any way, because a server that outlives
/// an interrupted test run would keep its port, its files and a processor.
///
/// A shell reads the process ids from a pipe, whose other end closes with this process.
package struct ProcessKeeper: Sendable {
    private let pipe: Descriptor
    /// Kept open, so that writing never raises SIGPIPE.
    private let readEnd: Descriptor
    /// The shell.
    package let shell: pid_t

    /// Nil if it cannot be started; programs then run all the same.
    static let shared = try? ProcessKeeper()

    /// A program that has ended is forgotten, because its number may become another program's.
    private static let script = """
        trap '' HUP INT TERM
        running=' '
        while read -r change pid; do
            case $change in
            begun) running="$running$pid " ;;
            ended) running="${running%% $pid *} ${running#* $pid }" ;;
            esac
        done
        kill -KILL $running
        """

    /// Starts the shell, and waits for its end on a thread: a child that is not waited for would hang
    /// Swift Testing's exit tests, which look at the first child that has ended before all others.
    package init() throws {
        let (read, write) = try Descriptor.pipe()
        let null = try Descriptor(path: "/dev/null", O_RDWR)
        let shell = try spawn(
            "/bin/sh", ["-c", Self.script], [:],
            streams: [read.number, null.number, null.number])
        (pipe, readEnd, self.shell) = (write, read, shell)
        try startThread { while waitpid(shell, nil, 0) == -1, errno == EINTR {} }
    }

    /// A program that must not outlive this process.
    package func noteBegun(_ pid: pid_t) { try? pipe.write(Array("begun \(pid)\n".utf8)) }

    /// It has ended.
    package func noteEnded(_ pid: pid_t) { try? pipe.write(Array("ended \(pid)\n".utf8)) }
}
