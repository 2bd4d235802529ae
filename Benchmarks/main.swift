import Glibc

// siwa-bench PROGRAMS SOURCES RESULTS [ROUNDS [TABLE]]: compares siwa with alternatives, and with
// the limits of the machine. SOURCES is this folder. Writes ratios into RESULTS, which travel;
// rates do not (docs/performance.md). With TABLE, measures that table alone, and writes nothing.
// siwa-bench vault PROGRAMS RECORDS[,RECORDS…] [ROUNDS [DATABASE]]: what a record of a vault costs,
// by its size, in SQLite and PostgreSQL or in one of them.
// siwa-bench workers PROGRAMS RECORDS WORKERS[,WORKERS…]: what it costs by how many work on it.

let arguments = CommandLine.arguments
// Chosen by the machine, they would have siwa read every authority at its start, and its peers none.
for name in ["SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"] { unsetenv(name) }
if arguments.count >= 4, ["vault", "workers"].contains(arguments[1]) {
    do {
        try arguments[1] == "vault" ? measureVault() : measureWorkers()
        exit(0)
    } catch {
        print("siwa-bench: \(error)")
        exit(1)
    }
}
guard (4...6).contains(arguments.count), let rounds = Int(arguments.dropFirst(4).first ?? "5")
else {
    print("usage: siwa-bench PROGRAMS SOURCES RESULTS [ROUNDS [TABLE]]")
    exit(2)
}
do {
    let fixture = try Fixture(
        at: "\(arguments[1])/bench-work", programs: arguments[1], peers: "\(arguments[2])/Peers")
    print("medians of \(rounds) rounds, the rows of a table in turns; siwa's first row is 1")
    let table = arguments.dropFirst(5).first
    let tables = try TableChoice(named: table).measure(fixture, rounds: rounds)
    let short = tables.flatMap(\.goals).filter { $0.verdict == "falls short" }
    print(short.isEmpty ? "\nevery must is reached" : "\nfalls short:")
    for result in short { print("  \(result.subject): \(result.cells.joined(separator: ", "))") }
    if table == nil {
        try Report(folder: arguments[3], chart: "\(arguments[2])/chart.gnuplot").write(tables)
    }
} catch {
    print("siwa-bench: \(error)")
    exit(1)
}

/// A folder for vaults, in `FOLDER`.
private func folder(_ name: String) -> String {
    let folder = "\(variable("FOLDER") ?? "/tmp")/siwa-bench-\(name)"
    mkdir(folder, 0o700)
    return folder
}

private func numbers(_ text: String) -> [Int] { text.split(separator: ",").compactMap { Int($0) } }

private func measureVault() throws {
    try VaultBenchmark(
        siwa: "\(arguments[2])/siwa", folder: folder("vault"), postgres: PostgresServer(),
        rounds: arguments.dropFirst(4).first.flatMap { Int($0) } ?? 3
    ).run(numbers(arguments[3]), of: arguments.dropFirst(5).first)
}

private func measureWorkers() throws {
    guard let postgres = PostgresServer(), let program = Server.program, arguments.count == 5 else {
        throw BenchmarkError("PostgreSQL, or nginx and its echo module, are not installed")
    }
    let fixture = try Fixture(at: folder("workers"), programs: arguments[2], peers: "")
    let server = try Server(fixture, program)
    defer { server.stop() }
    try WorkersBenchmark(
        fixture: fixture, postgres: postgres, records: numbers(arguments[3]).first ?? 0
    ).run(numbers(arguments[4]))
}
