/// Rows that follow each other in the order of an index.
package struct Stretch<Position> {
    /// Nil for the first row of all.
    package let start: Position?
    /// Whether the row at the start is one of them.
    package let includesStart: Bool
    /// The last of them; nil for the last row of all.
    package let end: Position?

    /// The rows after a position, up to another.
    package init(after start: Position?, upTo end: Position?) {
        (self.start, includesStart, self.end) = (start, false, end)
    }

    /// The rows from a position on, up to another.
    package init(from start: Position, upTo end: Position?) {
        (self.start, includesStart, self.end) = (start, true, end)
    }

    /// The stretch of `length` rows after a position, or of all that are left.
    ///
    /// Without a position it finds the first row of all, because PostgreSQL stops at the end of a
    /// stretch only if it knows the start (``Conditions``).
    ///
    /// - Parameter row: finds the row at a distance after a position, 1 for the next one; nil if
    ///   fewer are left.
    package init(
        after start: Position?, length: Int,
        row: (Position?, Int) throws(DatabaseFailure) -> Position?
    ) throws(DatabaseFailure) {
        let end = try row(start, length)
        if start == nil, end != nil, let first = try row(nil, 1) {
            self.init(from: first, upTo: end)
        } else {
            self.init(after: start, upTo: end)
        }
    }

    /// The same stretch, its positions in another form.
    package func map<Other>(_ transform: (Position) -> Other) -> Stretch<Other> {
        let end = end.map(transform)
        guard includesStart, let start else {
            return Stretch<Other>(after: start.map(transform), upTo: end)
        }
        return Stretch<Other>(from: transform(start), upTo: end)
    }
}

/// Rows that a statement looks at, at most, to find those that a filter selects.
package let longestStretch = 20_000

/// What a search by stretches has found.
package struct StretchSearch<Position> {
    /// The selected rows, in their order.
    package var rows: [[Value]]
    /// Where the search stopped for having looked at many rows; nil if it found enough, or reached
    /// the last row of all.
    package var stop: Position?
    /// How many rows it looked at: at least these.
    package var searched: Int

    /// A search that found rows.
    package init(_ rows: [[Value]] = []) { (self.rows, searched) = (rows, rows.count) }
}

extension Database {
    /// Up to `limit` rows that a filter selects by columns that are not in an index. Rows are read
    /// in stretches, so that no statement reads a whole table to find a few.
    ///
    /// - Parameters:
    ///   - most: the number of rows after which a search stops that has not found enough.
    ///   - row: finds the row at a distance after a position, independent of the filter; nil if
    ///     fewer rows are left.
    ///   - rows: the selected rows of a stretch, limited to that number.
    package func rowsByStretch<Position>(
        after position: Position?, _ limit: Int, stoppingAfter most: Int = .max,
        row: (Position?, Int) throws(DatabaseFailure) -> Position?,
        rows: (Stretch<Position>, Int) throws(DatabaseFailure) -> [[Value]]
    ) throws(DatabaseFailure) -> StretchSearch<Position> {
        var search = StretchSearch<Position>()
        var (start, length) = (position, 4 * limit)
        while search.rows.count < limit {
            let stretch = try Stretch(after: start, length: length, row: row)
            search.rows += try rows(stretch, limit - search.rows.count)
            guard let end = stretch.end else { break }
            guard search.rows.count < limit else { break }
            search.searched += length
            guard search.searched < most else {
                search.stop = end
                break
            }
            (start, length) = (end, min(2 * length, max(length, longestStretch)))
        }
        search.searched = max(search.searched, search.rows.count)
        return search
    }
}
