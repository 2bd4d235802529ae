/// Moments at which a program is killed at work.
///
/// How long the program takes is an estimate, which a busy machine makes wrong. So whenever a program was
/// quicker than its kill, the next one has half the time: in the end every kill hits, and no test depends
/// on luck.
package struct KillMoments: Sendable {
    private var longest: Duration
    private var random: SeededRandom

    /// Moments within the time that the program takes.
    package init(within duration: Duration, _ random: SeededRandom) {
        longest = duration
        self.random = random
    }

    /// Starts a program, again if it was quicker, and kills it at work.
    package mutating func strike(_ start: () async throws -> RunningProgram) async throws {
        while true {
            let victim = try await start()
            try await Task.sleep(for: longest * Double.random(in: 0..<1, using: &random))
            victim.signal(9)
            if try await victim.result().ending == .signal(9) { return }
            longest /= 2
        }
    }
}
