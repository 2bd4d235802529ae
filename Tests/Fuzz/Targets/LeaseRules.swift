internal import JOSE
internal import Lifecycle

/// Any sequence of claims, renewals, deaths and clock jumps: no item is worked on by two at once, and
/// none is parked for ever.
///
/// An input is a sequence of pairs: what happens, and by whom or by how much. The rows of the database
/// follow the statements of `RecordClaiming.swift`; the decisions are the code under test.
func checkLeases(_ input: [UInt8]) throws(Violation) {
    var world = LeasedWorld()
    for index in stride(from: 0, to: input.count - 1, by: 2) {
        world.happen(input[index], Int(input[index + 1]))
        try demand(
            world.workers.count { world.maySend($0) } <= 1, "an item is worked on by two at once")
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
    }

    /// A run.
    struct Worker {
        let id: Int
        let lease: VaultLease
        /// When it claimed first, by the wall clock.
        let start: Int
        var watch = VaultLeaseWatch()
        var hold: VaultHold?
        var renewal = 0
    }

    private var row = Row()
    private(set) var workers: [Worker] = []
    private var runs = 0
    /// The monotonic clock, and by how much the wall clock is ahead of it, in seconds.
    private var (elapsed, offset) = (0, 1_700_000_000)

    private var wall: Int { elapsed + offset }

    /// Whether a worker would send the item now.
    func maySend(_ worker: Worker) -> Bool {
        worker.hold.map { $0.deadline(at: NumericDate(wall)) > .seconds(elapsed) } ?? false
    }

    mutating func happen(_ event: UInt8, _ argument: Int) {
        switch event % 8 {
        case 0: pass(argument)
        case 1: offset += (argument - 128) * 60
        case 2: offset += (argument - 128) * 7_919
        case 3: begin(Self.durations[argument % Self.durations.count])
        case 4: with(argument) { $0.claim(&$1) }
        case 5: with(argument) { $0.renew(&$1) }
        case 6: with(argument) { $0.release(&$1) }
        default: if !workers.isEmpty { workers.remove(at: argument % workers.count) }
        }
    }

    private static let durations = [1, 60, 300, 3_600]

    /// Time passes, in which living runs renew.
    private mutating func pass(_ seconds: Int) {
        for _ in 0..<seconds {
            elapsed += 1
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
                id: runs, lease: VaultLease(owner: "\(runs)", duration: .seconds(seconds)),
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
        (row.owner, row.end, row.givenBack) = (worker.id, wall + seconds + 1, nil)
        worker.hold = VaultHold(
            worker.lease.duration, since: .seconds(elapsed), NumericDate(wall))
        worker.renewal = elapsed + max(1, Int(worker.lease.renewalInterval.components.seconds))
    }

    private mutating func claim(_ worker: inout Worker) {
        guard row.owner != worker.id else { return }
        let isGivenBackLater = row.givenBack.map {
            $0 > worker.start && $0 <= wall + 86_400
        }
        if row.end <= wall, isGivenBackLater != true { return take(&worker) }
        let isHeld = row.owner != nil && row.givenBack == nil
        if !isHeld, row.end > wall + 60 { row = Row() }
        var strays: [VaultStrayLease] = []
        if isHeld, row.end > wall + 3_660 {
            strays = [
                VaultStrayLease(
                    row: VaultRowKey(clientID: [], userID: [], fingerprint: []),
                    owner: Array("\(row.owner ?? 0)".utf8), end: row.end)
            ]
        }
        if !worker.watch.look(at: strays, at: .seconds(elapsed)).void.isEmpty { row = Row() }
    }

    private mutating func renew(_ worker: inout Worker) {
        guard worker.hold != nil else { return }
        guard row.owner == worker.id, row.givenBack == nil, row.end > wall else {
            return worker.hold = nil
        }
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
                with(0) { $0.claim(&$1) }
                if maySend(workers[0]) { return true }
                elapsed += 20
            }
            workers = []
            elapsed += 3_600
        }
        return false
    }
}
