internal import SIWAJOSE
internal import SIWALifecycle

/// The emulator's time and the numbers at the top.
enum StatusPanel {
    static func html(_ state: ConsoleState) -> HTML {
        let sessions = state.service.ledger.aliveCount
        let faults = state.faults.count
        return """
            <p class="clock"><span class="caption">Emulator time</span> \
            <time datetime="\(state.now.rfc3339)" data-now="\(String(state.now.seconds))">\
            \(day(state.now)) <b>\(state.now.timeOfDay)</b> UTC</time>\(offset(state.clockOffset))</p>
            <ul class="numbers">
            \(number(state.log.count, "request", "requests", to: "requests"))
            \(number(sessions, "live session", "live sessions", to: "sessions"))
            \(number(faults, "fault waits", "faults wait", to: "faults", isWarning: faults > 0))
            </ul>
            """
    }

    private static func day(_ date: NumericDate) -> String { String(date.rfc3339.prefix(10)) }

    private static func offset(_ offset: Duration) -> HTML {
        guard offset != .zero else { return "" }
        let direction = offset > .zero ? "ahead" : "behind"
        return #" <span class="badge warn">\#(offset.words(units: 2)) \#(direction)</span>"#
    }

    private static func number(
        _ count: Int, _ one: String, _ many: String, to section: String, isWarning: Bool = false
    ) -> HTML {
        """
        <li><a href="#\(section)"\(isWarning ? #" class="warn""# as HTML : "")>\
        <b>\(String(count))</b> \(count == 1 ? one : many)</a></li>
        """
    }
}
