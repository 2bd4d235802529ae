internal import SIWAJOSE
import Testing

struct DurationFormatTests {
    @Test(arguments: [
        ("0s", 0), ("90s", 90), ("1h30m", 5400), ("1d12h", 129_600), ("36525d", 3_155_760_000),
    ])
    func `valid durations are parsed`(_ text: String, _ seconds: Int) {
        #expect(Duration(text: text) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "5", "s", "1m1d", "1m1m", "-1s", "1.5s", "1 s", "1w", "5ms", "36526d", "36525d1s",
        "99999999999999999999s", "١s",
    ])
    func `invalid durations are refused`(_ text: String) { #expect(Duration(text: text) == nil) }

    @Test func `milliseconds are accepted where they are allowed`() {
        #expect(Duration(text: "1s250ms", allowsMilliseconds: true) == .milliseconds(1250))
    }

    @Test(arguments: [
        (0, "0 ms"), (58, "58 ms"), (5000, "5 s"), (12_300, "12.3 s"), (10_001, "10.001 s"),
        (59_999, "59.999 s"), (60_000, "1 minute"), (5_400_000, "1 hour 30 minutes"),
        (90_061_000, "1 day 1 hour"),
    ])
    func `measured times have readable units`(_ milliseconds: Int, _ text: String) {
        #expect(Duration.milliseconds(milliseconds).measured == text)
    }

    @Test func `durations are written in words and in abbreviations`() {
        let duration = Duration.seconds(90_061)
        #expect(duration.words() == "1 day 1 hour 1 minute 1 second")
        #expect(duration.words(units: 2) == "1 day 1 hour")
        #expect(Duration.seconds(-7200).words() == "2 hours")
        #expect(Duration.milliseconds(999).words() == "0 seconds")
        #expect(duration.abbreviation == "1d1h1m1s" && Duration.zero.abbreviation == "0s")
    }
}
