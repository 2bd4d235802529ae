import Foundation
import SIWAJOSE
import Testing

@Suite struct NumericDateTests {
    @Test func `every day from 1900 to 2100 is written as Foundation does`() throws {
        let style = Date.ISO8601FormatStyle()
        let first = -2_208_988_800
        #expect(NumericDate(first).rfc3339 == "1900-01-01T00:00:00Z")
        var days = 0
        for day in stride(from: first, to: 4_133_980_800, by: 86_400) {
            // Another time each day, first and last second included over the years.
            let seconds = day + (days &* 7919) % 86_400
            let text = NumericDate(seconds).rfc3339
            guard text == Date(timeIntervalSince1970: Double(seconds)).formatted(style),
                NumericDate(rfc3339: text)?.seconds == seconds
            else {
                Issue.record("\(seconds) is \(text)")
                return
            }
            days += 1
        }
        #expect(days == 73_414)
    }

    static let extremes: [Row<(Int, String)>] = [
        Row("the epoch", (0, "1970-01-01T00:00:00Z")),
        Row("the second before", (-1, "1969-12-31T23:59:59Z")),
        Row("the year 0", (-62_167_219_200, "0000-01-01T00:00:00Z")),
        Row("the last second of 9999", (253_402_300_799, "9999-12-31T23:59:59Z")),
        Row("a leap day", (951_782_400, "2000-02-29T00:00:00Z")),
        Row("2038", (2_147_483_648, "2038-01-19T03:14:08Z")),
    ]

    @Test(arguments: extremes) func `dates are written and read back`(_ row: Row<(Int, String)>) {
        #expect(NumericDate(row.value.0).rfc3339 == row.value.1)
        #expect(NumericDate(rfc3339: row.value.1)?.seconds == row.value.0)
    }

    /// A token may claim any Int, and its times are shown before its signature is believed.
    @Test(arguments: [
        Int.min, .min + 1, .min + 86_400, .max - 1, .max, -62_167_219_201, 253_402_300_800,
    ])
    func `writing an extreme date does not trap`(_ seconds: Int) {
        #expect(NumericDate(seconds).rfc3339.hasSuffix("Z"))
        #expect(NumericDate(seconds).httpDate.hasSuffix(" GMT"))
    }

    static let read: [Row<(String, Int)>] = [
        Row("an offset east", ("1970-01-01T01:00:00+01:00", 0)),
        Row("an offset west", ("1969-12-31T19:00:00-05:00", 0)),
        Row("half an hour", ("1970-01-01T05:30:00+05:30", 0)),
        Row("an unknown offset", ("1970-01-01T00:00:00-00:00", 0)),
        Row("the widest offset", ("1970-01-01T23:59:00+23:59", 0)),
        Row("a fraction", ("1970-01-01T00:00:01.999Z", 1)),
        Row("small letters", ("1970-01-01t00:00:00z", 0)),
        Row("a space for the T", ("1970-01-01 00:00:00Z", 0)),
        Row("a leap second", ("2016-12-31T23:59:60Z", 1_483_228_799)),
        Row("29 February of a leap year", ("2024-02-29T00:00:00Z", 1_709_164_800)),
        Row("29 February 2000", ("2000-02-29T00:00:00Z", 951_782_400)),
    ]

    @Test(arguments: read) func `RFC 3339 dates are read`(_ row: Row<(String, Int)>) {
        #expect(NumericDate(rfc3339: row.value.0)?.seconds == row.value.1)
    }

    @Test(arguments: [
        "", "1970", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00Z",
        "1970-1-01T00:00:00Z", "70-01-01T00:00:00Z", "01970-01-01T00:00:00Z",
        "1970-00-01T00:00:00Z", "1970-13-01T00:00:00Z", "1970-01-00T00:00:00Z",
        "1970-01-32T00:00:00Z", "1970-04-31T00:00:00Z", "2023-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2024-02-30T00:00:00Z",
        "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z", "1970-01-01T00:00:61Z",
        "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00,5Z", "1970-01-01T00:00:00+1:00",
        "1970-01-01T00:00:00+0100", "1970-01-01T00:00:00+24:00", "1970-01-01T00:00:00+00:60",
        "1970-01-01T00:00:00Z ", " 1970-01-01T00:00:00Z", "1970-01-01T00:00:00ZZ",
        "1970-01-01X00:00:00Z", "1970/01/01T00:00:00Z", "+970-01-01T00:00:00Z",
        "-970-01-01T00:00:00Z", "1970-01-01T00:00:0\u{661}Z", "1700000000", "now",
    ]) func `invalid dates are refused`(_ text: String) {
        #expect(NumericDate(rfc3339: text) == nil)
    }

    static let httpDates: [Row<(String, Int?)>] = [
        Row("RFC 9110's example", ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777)),
        Row("a leap day", ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800)),
        Row("the obsolete form of RFC 850", ("Sunday, 06-Nov-94 08:49:37 GMT", nil)),
        Row("asctime", ("Sun Nov  6 08:49:37 1994", nil)),
        Row("another zone", ("Sun, 06 Nov 1994 08:49:37 CET", nil)),
        Row("no zone", ("Sun, 06 Nov 1994 08:49:37", nil)),
        Row("a month of no year", ("Sun, 06 Foo 1994 08:49:37 GMT", nil)),
        Row("31 February", ("Sun, 31 Feb 1994 08:49:37 GMT", nil)),
        Row("25 o'clock", ("Sun, 06 Nov 1994 25:49:37 GMT", nil)),
        Row("a negative hour", ("Sun, 06 Nov 1994 -8:49:37 GMT", nil)),
        Row("nothing", ("", nil)), Row("a number", ("120", nil)),
    ]

    @Test(arguments: httpDates) func `HTTP dates are read`(_ row: Row<(String, Int?)>) {
        let date = NumericDate(httpDate: row.value.0)
        #expect(date?.seconds == row.value.1)
        if let date { #expect(date.httpDate == row.value.0) }
    }

    @Test func `every weekday of two weeks is read back`() {
        for day in -7..<7 {
            let date = NumericDate(day * 86_400 + 12_345)
            #expect(NumericDate(httpDate: date.httpDate) == date)
        }
        #expect(NumericDate(0).httpDate == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(NumericDate(-1).httpDate == "Wed, 31 Dec 1969 23:59:59 GMT")
    }

    @Test func `addition and subtraction do not overflow`() {
        let date = NumericDate(100)
        #expect((date + .seconds(5)).seconds == 105)
        #expect((date - .seconds(5)).seconds == 95)
        #expect((date + .milliseconds(1999)).seconds == 101)
        #expect(NumericDate(105) - date == .seconds(5))
        #expect(NumericDate(.max) + .seconds(1) == NumericDate(.max))
        #expect(NumericDate(.min) - .seconds(1) == NumericDate(.min))
        #expect(NumericDate(.max) + .seconds(Int.max) == NumericDate(.max))
        #expect(NumericDate(.min) + .seconds(Int.min) == NumericDate(.min))
        #expect(NumericDate(.max) - NumericDate(.min) == .seconds(Int.max))
        #expect(NumericDate(.min) - NumericDate(.max) == .seconds(Int.min))
        #expect(NumericDate(1) < NumericDate(2))
    }
}
