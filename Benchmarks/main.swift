import Glibc

// siwa-bench PROGRAMS PEERS [ROUNDS]: siwa beside what one would use in its place, and beside what
// the machine can do at most. Prints ratios, which travel; rates do not (docs/performance.md).

let arguments = CommandLine.arguments
guard (3...4).contains(arguments.count), let rounds = Int(arguments.dropFirst(3).first ?? "5")
else {
    print("usage: siwa-bench PROGRAMS PEERS [ROUNDS]")
    exit(2)
}
do {
    let workshop = try Workshop(
        at: "\(arguments[1])/bench-work", programs: arguments[1], peers: arguments[2])
    print("medians of \(rounds) rounds, the rows of a table in turns")
    try Contest.mint(workshop).hold(rounds: rounds)
    try Contest.verify(workshop).hold(rounds: rounds)
    try Contest.start(workshop).hold(rounds: rounds)
    if let program = Server.program {
        let server = try Server(workshop, program)
        defer { server.stop() }
        try Contest.revoke(workshop).hold(rounds: rounds)
    } else {
        print("\nskipped: revocations, because nginx or its echo module is not installed")
    }
} catch {
    print("siwa-bench: \(error)")
    exit(1)
}
