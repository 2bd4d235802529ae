internal import SIWACrypto

extension NumericDate {
    /// The moment in the format of RFC 3339, in UTC: `2026-11-21T08:30:00Z`.
    package var rfc3339: String {
        String(capacity: Self.mostCharacters) { appendRFC3339(to: &$0) }
    }

    /// Whether RFC 3339 can write the moment: its year has four digits.
    package var isWritable: Bool { (-62_167_219_200...253_402_300_799).contains(seconds) }

    /// The greatest length, with the year of ``Int/min``.
    package static let mostCharacters = 32

    /// Appends ``rfc3339``, which takes at most ``mostCharacters``.
    package func appendRFC3339(to text: inout OutputSpan<UInt8>) {
        let (day, time) = seconds.floored(by: 86_400)
        let date = CivilDate(daysSinceEpoch: day)
        let usual = Self.usualText(date, time)
        guard !(0...9999).contains(date.year) else { return text.append(contentsOf: usual.span) }
        for byte in date.year.padded(to: 4).utf8 { text.append(byte) }
        text.append(contentsOf: usual.span.extracting(droppingFirst: 4))
    }

    /// The text of a moment whose year has four digits; of others, all but the year.
    private static func usualText(_ date: CivilDate, _ time: Int) -> [20 of UInt8] {
        var text = [20 of UInt8](repeating: UInt8(ascii: "-"))
        func write(_ number: Int, at index: Int) {
            let number = UInt8(truncatingIfNeeded: number)
            text[index] = UInt8(ascii: "0") + number / 10
            text[index + 1] = UInt8(ascii: "0") + number % 10
        }
        write(date.year / 100, at: 0)
        write(date.year % 100, at: 2)
        write(date.month, at: 5)
        write(date.day, at: 8)
        text[10] = UInt8(ascii: "T")
        write(time / 3600, at: 11)
        text[13] = UInt8(ascii: ":")
        write(time / 60 % 60, at: 14)
        text[16] = UInt8(ascii: ":")
        write(time % 60, at: 17)
        text[19] = UInt8(ascii: "Z")
        return text
    }

    /// Reads an RFC 3339 moment with `Z` or an offset; a fraction of a second is dropped. Nil for
    /// other texts and for days that do not exist.
    package init?(rfc3339 text: String) {
        var scanner = DateScanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2),
            scanner.skip("-"), let day = scanner.number(2), scanner.skip("Tt "),
            let hour = scanner.number(2), scanner.skip(":"), let minute = scanner.number(2),
            scanner.skip(":"), let second = scanner.number(2), scanner.skipFraction(),
            let offset = scanner.offset(), scanner.isAtEnd
        else { return nil }
        self.init(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second,
            offset: offset)
    }

    /// The moment in the preferred form of an HTTP date (RFC 9110 §5.6.7).
    package var httpDate: String {
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let day = seconds.floored(by: 86_400).quotient
        let date = CivilDate(daysSinceEpoch: day)
        return """
            \(weekdays[day.floored(by: 7).remainder]), \(date.day.padded(to: 2)) \
            \(Self.months[date.month - 1]) \(date.year.padded(to: 4)) \
            \(rfc3339.dropFirst(rfc3339.count - 9).dropLast()) GMT
            """
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads the preferred form of an HTTP date (RFC 9110 §5.6.7):
    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    package init?(httpDate text: String) {
        let words = text.split(whereSeparator: { " :".contains($0) }).map(String.init)
        guard words.count == 8, words[7] == "GMT", let month = Self.months.firstIndex(of: words[2]),
            let day = Int(words[1]), let year = Int(words[3]), let hour = Int(words[4]),
            let minute = Int(words[5]), let second = Int(words[6])
        else { return nil }
        self.init(
            year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    private init?(
        year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, offset: Int = 0
    ) {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        // A day that the month does not have becomes another date.
        guard CivilDate(daysSinceEpoch: date.daysSinceEpoch) == date else { return nil }
        self.init(
            date.daysSinceEpoch * 86_400 + hour * 3600 + minute * 60 + min(second, 59) - offset)
    }
}

/// A day of the proleptic Gregorian calendar. The arithmetic uses eras of 400 years that begin on 1
/// March, so that the leap day is the last day of a year.
private struct CivilDate: Equatable {
    let year: Int
    let month: Int
    let day: Int

    init(year: Int, month: Int, day: Int) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    init(daysSinceEpoch days: Int) {
        let shifted = days + 719_468
        let (era, dayOfEra) = shifted.floored(by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSinceEpoch: Int {
        let marchYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = marchYear.floored(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

private struct DateScanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number(_ digits: Int) -> Int? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy({ $0.isDigit }) else {
            return nil
        }
        rest = rest.dropFirst(digits)
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    mutating func skip(_ anyOf: String) -> Bool {
        guard let first = rest.first, anyOf.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func skipFraction() -> Bool {
        guard skip(".") else { return true }
        let digits = rest.prefix { $0.isDigit }
        rest = rest.dropFirst(digits.count)
        return !digits.isEmpty
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int? {
        if skip("Zz") { return 0 }
        let sign = rest.first == UInt8(ascii: "-") ? -1 : 1
        guard skip("+-"), let hours = number(2), skip(":"), let minutes = number(2),
            hours < 24, minutes < 60
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}

extension Int {
    /// Division that rounds down; safe for every Int, because a forged token may hold any.
    fileprivate func floored(by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
