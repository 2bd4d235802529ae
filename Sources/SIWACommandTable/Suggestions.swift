/// The candidates that were probably meant by `typed`, the likeliest first, at most three.
///
/// Likely means: at most two typing errors away, or an abbreviation.
package func suggestions(for typed: String, among candidates: [String]) -> [String] {
    // No name is longer, and comparing a longer text would be slow.
    guard !typed.isEmpty, typed.utf8.count <= 64 else { return [] }
    let ranked = candidates.compactMap { candidate -> (name: String, distance: Int)? in
        let distance = editDistance(between: typed.lowercased(), and: candidate)
        // Two typing errors make a word of four letters unrecognisable.
        let isNear = distance <= 2 && distance * 2 < typed.count
        let isBegun = typed.count > 1 && candidate.hasPrefix(typed)
        return isNear || isBegun ? (candidate, distance) : nil
    }
    // Sorting is stable, so equals keep the order of the table.
    return ranked.sorted { $0.distance < $1.distance }.prefix(3).map(\.name)
}

/// The hint "did you mean …?"; empty without suggestions.
package func didYouMean(_ suggestions: [String]) -> [String] {
    suggestions.isEmpty ? [] : ["did you mean \(listed(suggestions.map { "'\($0)'" }, "or"))?"]
}

/// The Damerau–Levenshtein distance: insertions, deletions, replacements and swaps of neighbours.
func editDistance(between left: String, and right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    var twoAbove: [Int] = []
    var above = Array(0...right.count)
    for i in left.indices {
        var row = [i + 1]
        for j in right.indices {
            let replaced = above[j] + (left[i] == right[j] ? 0 : 1)
            var best = min(replaced, above[j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                best = min(best, twoAbove[j - 1] + 1)
            }
            row.append(best)
        }
        (twoAbove, above) = (above, row)
    }
    return above[right.count]
}
