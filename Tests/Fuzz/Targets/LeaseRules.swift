internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWAVaultRecords

/// Any sequence of claims, renewals, attempts, deaths and clock jumps: no run sends an item that
/// another one has claimed, and none is parked for ever.
///
/// An input is a sequence of pairs: what happens, and by whom or by how much. The rows of the database
/// follow the statements of `RecordClaiming.swift`; the decisions are the code under test.
func checkLeases(_ input: [UInt8]) throws(Violation) {
    var world = LeasedWorld()
    for index in stride(from: 0, to: input.count - 1, by: 2) {
        world.happen(input[index], Int(input[index + 1]))
        try demand(
            !world.wasSentByTwo, "a run sent an item that another one had claimed")
    }
    try demand(world.isFoundBySomebodyNew(), "an item is parked for ever")
}

/// One item in a database on one machine, and the runs that work on it.
private struct LeasedWorld {
    /// The row of the item.
    private struct Row {
        var owner: Int?
        var end = 0
        var givenBack: Int?
        /// When the owner changed, by the monotonic clock.
        var changed = Duration.zero
    }

    /// A run.
    struct Worker {
        let id: Int
        let lease: Lease
        /// When it claimed first, by the wall clock.
        let start: Int
        var watch = VaultLeaseWatch()
        var hold: VaultHold?
        var renewal = Duration.zero
    }

    private var row = Row()
    private var workers: [Worker] = []
    private(set) var wasSentByTwo = false
    private var runs = 0
    /// The monotonic clock, and by how many seconds the wall clock is ahead of it.
    private var (elapsed, offset) = (Duration.zero, 1_700_000_000)

    private var wall: Int { Int(elapsed.components.seconds) + offset }

    /// Sends the item, if the worker may.
    private mutating func attempt(_ worker: inout Worker) -> Bool {
        guard let hold = worker.hold, hold.deadline > elapsed else { return false }
        if hold.isDoubtful(at: elapsed) {
            guard isHeld(by: worker) else {
                worker.hold = nil
                return false
            }
            worker.hold?.confirm(at: elapsed)
        }
        let isAnothers = row.owner != worker.id && elapsed - row.changed >= VaultHold.certainty
        wasSentByTwo = wasSentByTwo || isAnothers
        return true
    }

    private func isHeld(by worker: Worker) -> Bool {
        row.owner == worker.id && row.givenBack == nil && row.end > wall
    }

    mutating func happen(_ event: UInt8, _ argument: Int) {
        switch event % 10 {
        case 0: pass(argument)
        case 1: offset += (argument - 128) * 60
        case 2: offset += (argument - 128) * 7_919
        case 3: begin(Self.durations[argument % Self.durations.count])
        case 4: with(argument) { $0.claim(&$1) }
        case 5: with(argument) { $0.renew(&$1) }
        case 6: with(argument) { $0.release(&$1) }
        case 7: if !workers.isEmpty { workers.remove(at: argument % workers.count) }
        case 8: with(argument) { _ = $0.attempt(&$1) }
        default: elapsed += .milliseconds(argument)
        }
    }

    private static let durations = [1, 60, 300, 3_600]

    /// Time passes, in which living runs renew.
    private mutating func pass(_ seconds: Int) {
        for _ in 0..<seconds {
            elapsed += .seconds(1)
            for index in workers.indices where workers[index].renewal <= elapsed {
                with(index) { $0.renew(&$1) }
            }
        }
    }

    private mutating func begin(_ seconds: Int) {
        guard workers.count < 4 else { return }
        runs += 1
        workers.append(
            Worker(
                id: runs, lease: Lease(owner: "\(runs)", duration: .seconds(seconds)),
                start: wall))
    }

    private mutating func with(_ index: Int, _ body: (inout Self, inout Worker) -> Void) {
        guard !workers.isEmpty else { return }
        var worker = workers[index % workers.count]
        body(&self, &worker)
        workers[index % workers.count] = worker
    }

    private mutating func take(_ worker: inout Worker) {
        let seconds = Int(worker.lease.duration.components.seconds)
        let changed = row.owner == worker.id ? row.changed : elapsed
        row = Row(owner: worker.id, end: wall + seconds + 1, changed: changed)
        worker.hold = VaultHold(worker.lease.duration, since: elapsed)
        worker.renewal = elapsed + max(.seconds(1), worker.lease.renewalInterval)
    }

    private mutating func claim(_ worker: inout Worker) {
        guard row.owner != worker.id else { return }
        let isGivenBackLater = row.givenBack.map {
            $0 > worker.start && $0 <= wall + 86_400
        }
        if row.end <= wall, isGivenBackLater != true { return take(&worker) }
        let isHeld = row.owner != nil && row.givenBack == nil
        if !isHeld, row.end > wall + 60 { row = Row(changed: elapsed) }
        var strays: [VaultStrayLease] = []
        if isHeld, row.end > wall + 3_660 {
            strays = [
                VaultStrayLease(
                    row: VaultRowKey(clientID: [], userID: [], fingerprint: []),
                    owner: Array("\(row.owner ?? 0)".utf8), end: row.end)
            ]
        }
        if !worker.watch.look(at: strays, at: elapsed).void.isEmpty { row = Row(changed: elapsed) }
    }

    private mutating func renew(_ worker: inout Worker) {
        guard worker.hold != nil else { return }
        guard isHeld(by: worker) else { return worker.hold = nil }
        take(&worker)
    }

    private mutating func release(_ worker: inout Worker) {
        worker.hold = nil
        guard row.owner == worker.id, row.end > wall else { return }
        (row.end, row.givenBack) = (wall, wall)
    }

    /// Whether, once all others have died and the clock is right, one of the next runs gets the item.
    mutating func isFoundBySomebodyNew() -> Bool {
        workers = []
        for _ in 0..<3 {
            begin(300)
            // A run ends when it finds nothing, so time passes before the next one.
            for _ in 0..<12 {
                var isSent = false
                with(0) { world, worker in
                    world.claim(&worker)
                    isSent = world.attempt(&worker)
                }
                if isSent { return true }
                elapsed += .seconds(20)
            }
            workers = []
            elapsed += .seconds(3_600)
        }
        return false
    }
}
