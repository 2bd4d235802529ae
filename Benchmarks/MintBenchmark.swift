import Glibc
import SIWACrypto
import SIWALifecycle

extension Benchmark {
    /// Minting client_secrets in bulk, the key read once.
    static func mint(_ fixture: Fixture) -> Benchmark {
        Benchmark(
            name: "mint", title: "client_secrets minted in one process", unit: "secrets",
            rows: [
                Row(name: "siwa's library, 1 thread") { try mint(fixture, threads: 1) },
                Row(name: "siwa's library, 2 threads") { try mint(fixture, threads: 2) },
                Row(name: "siwa's library, each verified") {
                    try mint(fixture, threads: 1, count: 5_000, verifying: true)
                },
                OpenSSLSpeed.row("ecdsap256", column: 3, "signatures alone"),
                Python.row("Python, PyJWT", needs: "jwt") { python in
                    let minted = try Child.run(
                        [
                            python, "\(fixture.peers)/mint.py", fixture.file("AuthKey.p8"),
                            "5000",
                        ])
                    guard let rate = Double(minted.output.trimmed) else {
                        throw BenchmarkError("mint.py printed no number")
                    }
                    return Sample(rate: rate)
                },
            ],
            goals: [
                Goal(
                    .rate, of: "siwa's library, 1 thread",
                    against: "openssl speed ecdsap256, signatures alone", must: 0.80,
                    stretch: 0.90),
                Goal(
                    .rate, of: "siwa's library, 2 threads", against: "siwa's library, 1 thread",
                    must: 1.6, stretch: 1.8),
            ])
    }

    private static func mint(
        _ fixture: Fixture, threads: Int, count: Int = 20_000, verifying: Bool = false
    ) throws -> Sample {
        let start = now()
        let work: @Sendable () -> Void = {
            for _ in 0..<count {
                _ = try? ClientSecret(
                    signedBy: fixture.key, as: Fixture.keyID, for: Fixture.client, of: Fixture.team,
                    at: today,
                    lifetime: .seconds(300), isVerified: verifying)
            }
        }
        let others = try (1..<threads).map { _ in try Thread(work) }
        work()
        for other in others { other.join() }
        return Sample(rate: Double(count * threads) / (now() - start))
    }
}

/// A thread of its own.
private struct Thread {
    private let thread: pthread_t

    init(_ body: @escaping @Sendable () -> Void) throws {
        let box = Unmanaged.passRetained(Body(run: body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                context.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw BenchmarkError("no thread can be made")
        }
        self.thread = thread
    }

    func join() { pthread_join(thread, nil) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

/// The speed of this machine's OpenSSL alone, which is the upper limit.
enum OpenSSLSpeed {
    /// - Parameters:
    ///   - column: of the line that `openssl speed -mr` prints: 3 signs, 4 verifies.
    ///   - isOfProcessor: counts its processor time in place of the clock's.
    static func row(
        _ algorithm: String, column: Int, _ what: String, isOfProcessor: Bool = false
    ) -> Row {
        let name = "openssl speed \(algorithm), \(what)"
        guard let openssl = Child.installed("openssl") else { return Row(name: name, run: nil) }
        return Row(name: name) {
            let clock = isOfProcessor ? [] : ["-elapsed"]
            let said = try Child.run(
                [openssl, "speed"] + clock + ["-seconds", "1", "-mr", algorithm]
            ).output
            let fields = said.split(separator: "\n").last { $0.hasPrefix("+F") }
                .map { $0.split(separator: ":") }
            guard let fields, fields.count > column, let rate = Double(fields[column]) else {
                throw BenchmarkError("openssl speed printed something else")
            }
            var sample = Sample(rate: rate)
            if isOfProcessor { sample.cpu = 1000 / rate }
            return sample
        }
    }
}

/// A peer in Python.
enum Python {
    /// - Parameter module: what it imports besides Python's own, with commas between several; nil
    ///   for nothing.
    static func row(
        _ name: String, needs module: String?, _ run: @escaping (String) throws -> Sample
    ) -> Row {
        guard let python = Child.installed("python3"),
            (try? Child.run([python, "-c", "import \(module ?? "ssl")"])) != nil
        else { return Row(name: name, run: nil) }
        return Row(name: name) { try run(python) }
    }
}

extension String {
    /// Without spaces and line ends around it.
    var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
