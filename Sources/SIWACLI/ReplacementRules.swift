internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWASystem

// What the commands may replace. A file that they only create needs no rule.
extension ReplacementRule {
    /// The secret of `secret --out`: one JWT, which may be expired or another client's.
    static let clientSecret = Self("a client_secret") { contents in
        let line = firstLine(contents)
        guard (try? CompactJWS(line.revealed())) != nil else { return false }
        let rest = contents.revealed().dropFirst(line.count)
        return rest.allSatisfy { [0x20, 0x09, 0x0D, 0x0A].contains($0) }
    }

    static let report = Self("a report of siwa doctor") { contents in
        guard let json = try? JSON(contents.revealed()) else { return false }
        return json["siwa"]?.string != nil && json["requests"]?.elements != nil
            && json["facts"]?.elements != nil
    }

    /// A file that marks something by its existence.
    static let marker = Self("a mark of siwa", allowsStreams: false) { _ in false }
}
