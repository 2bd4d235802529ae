import Testing

@testable import SIWADatabases
@testable import SIWAVaultRecords

/// What PostgreSQL and SQLite need to find the ends of a range in an index.
struct ConditionsTests {
    private func sql(
        _ stretch: Stretch<[Int]>
    ) -> (String, [Value]) {
        var conditions = Conditions()
        conditions.add(["a", "b", "c"], stretch.map { $0.map { .integer($0) } })
        return (conditions.sql, conditions.values)
    }

    @Test func `leading columns with equal bounds are compared separately`() {
        let (one, values) = sql(Stretch(after: [1, 2, 3], upTo: [1, 2, 9]))
        #expect(one == "WHERE a = $1 AND b = $2 AND (c) > ($3) AND (c) <= ($4)")
        #expect(values == [1, 2, 3, 9].map { .integer($0) })
        let (two, more) = sql(Stretch(from: [1, 2, 3], upTo: [1, 5, 0]))
        #expect(two == "WHERE a = $1 AND (b, c) >= ($2, $3) AND (b, c) <= ($4, $5)")
        #expect(more == [1, 2, 3, 5, 0].map { .integer($0) })
    }

    @Test func `other bounds are compared as rows`() {
        let both = sql(Stretch(after: [1, 2, 3], upTo: [2, 2, 3])).0
        #expect(both == "WHERE (a, b, c) > ($1, $2, $3) AND (a, b, c) <= ($4, $5, $6)")
        #expect(sql(Stretch(after: nil, upTo: [1, 2, 3])).0 == "WHERE (a, b, c) <= ($1, $2, $3)")
        #expect(sql(Stretch(after: [1, 2, 3], upTo: nil)).0 == "WHERE (a, b, c) > ($1, $2, $3)")
        #expect(sql(Stretch(after: nil, upTo: nil)).0 == "")
    }

    @Test func `the range between a row and itself is empty`() {
        let (sql, _) = sql(Stretch(after: [1, 2, 3], upTo: [1, 2, 3]))
        #expect(sql == "WHERE a = $1 AND b = $2 AND (c) > ($3) AND (c) <= ($4)")
    }
}
