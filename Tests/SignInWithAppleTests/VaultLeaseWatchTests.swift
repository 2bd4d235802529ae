import SIWAJOSE
import SIWALifecycle
import SIWAVaultRecords
import Testing

/// Which leases that end too late are void, and how long a run may send what it holds.
@Suite struct VaultLeaseWatchTests {
    private func lease(_ user: UInt8, _ owner: String = "x", end: Int = 1 << 40) -> VaultStrayLease
    {
        VaultStrayLease(
            row: VaultRowKey(clientID: [1], userID: [user], fingerprint: []),
            owner: Array(owner.utf8), end: end)
    }

    private func verdict(
        void: [VaultStrayLease] = [], wait: Int? = nil
    ) -> VaultLeaseWatch.Verdict {
        var verdict = VaultLeaseWatch.Verdict()
        (verdict.void, verdict.wait) = (void, wait.map { .seconds($0) })
        return verdict
    }

    @Test func `a lease is void after three minutes without a change`() {
        var watch = VaultLeaseWatch()
        #expect(watch.look(at: [lease(1)], at: .seconds(5)) == verdict(wait: 180))
        #expect(watch.look(at: [lease(1)], at: .seconds(184)) == verdict(wait: 1))
        #expect(watch.look(at: [lease(1)], at: .seconds(185)) == verdict(void: [lease(1)]))
    }

    @Test func `a lease that changes is not taken over`() {
        var watch = VaultLeaseWatch()
        _ = watch.look(at: [lease(1), lease(2)], at: .zero)
        let renewed = lease(1, end: 1 << 41)
        #expect(watch.look(at: [renewed, lease(2)], at: .seconds(170)) == verdict(wait: 10))
        #expect(
            watch.look(at: [renewed, lease(2)], at: .seconds(180)) == verdict(void: [lease(2)]))
        #expect(watch.look(at: [renewed], at: .seconds(349)) == verdict())
        #expect(
            watch.look(at: [renewed], at: .seconds(350)) == verdict(void: [renewed]),
            "its run has died since")
    }

    @Test func `another owner counts as a change`() {
        var watch = VaultLeaseWatch()
        _ = watch.look(at: [lease(1)], at: .zero)
        #expect(watch.look(at: [lease(1, "y")], at: .seconds(180)) == verdict())
    }

    @Test func `a lease that was absent is observed from the beginning`() {
        var watch = VaultLeaseWatch()
        _ = watch.look(at: [lease(1)], at: .zero)
        #expect(watch.look(at: [], at: .seconds(100)) == verdict())
        #expect(watch.look(at: [lease(1)], at: .seconds(200)) == verdict(wait: 180))
    }

    @Test(arguments: [(Duration.seconds(300), 120), (.seconds(60), 30), (.seconds(3600), 120)])
    func `held records may be sent for half the lease, but never once it may be void`(
        _ duration: Duration, _ seconds: Int
    ) {
        let hold = VaultHold(duration, since: .seconds(10))
        #expect(hold.deadline == .seconds(10 + seconds))
    }

    @Test func `the database is asked again a tenth of a second after it answered`() {
        var hold = VaultHold(.seconds(300), since: .seconds(10))
        #expect(!hold.isDoubtful(at: .milliseconds(10_099)))
        #expect(hold.isDoubtful(at: .milliseconds(10_100)))
        hold.confirm(at: .seconds(20))
        hold.confirm(at: .seconds(15))
        #expect(!hold.isDoubtful(at: .milliseconds(20_099)), "the later answer counts")
        #expect(hold.isDoubtful(at: .milliseconds(20_100)))
        #expect(hold.deadline == .seconds(130), "only a renewal moves the deadline")
    }

    @Test func `every lease is renewed more than once a minute`() {
        for duration in [Duration.seconds(1), .seconds(300), Lease.longest] {
            let interval = Lease(owner: "x", duration: duration).renewalInterval
            #expect(interval <= .seconds(30) && interval * 2 < VaultHold.longest)
            #expect(interval <= duration / 4)
        }
        #expect(VaultHold.longest < VaultLeaseWatch.patience)
    }
}
