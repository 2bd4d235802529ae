import Testing

@testable import Lifecycle

/// When refusals are final, for sequences of answers.
@Suite struct RefusalBrakeTests {
    /// Runs a brake over answers: `r` is a refusal, `d` is done.
    private func course(_ answers: String, percent: Int = 50) -> Course {
        var brake = RefusalBrake(.share(percent: percent))
        var course = Course()
        for (index, answer) in answers.enumerated() {
            switch answer == "r" ? brake.refused() : brake.done() {
            case .release(let count): if count > 0 { course.released.append((index + 1, count)) }
            case .stop:
                course.stoppedAfter = index + 1
                return course
            }
        }
        switch brake.end() {
        case .release(let count): course.releasedAtEnd = count
        case .stop: course.stopsAtEnd = true
        }
        return course
    }

    struct Course {
        var released: [(after: Int, count: Int)] = []
        var stoppedAfter: Int?
        var releasedAtEnd: Int?
        var stopsAtEnd = false
    }

    @Test func `a refusal is held until 200 more answers have come`() {
        let course = course("r" + String(repeating: "d", count: 201))
        #expect(course.released.map(\.after) == [201] && course.released.map(\.count) == [1])
        #expect(course.releasedAtEnd == 0)
        let shorter = self.course("r" + String(repeating: "d", count: 199))
        #expect(shorter.released.isEmpty && shorter.releasedAtEnd == 1)
    }

    @Test func `the brake needs 200 answers, and then stops a run without successes`() {
        let course = course(String(repeating: "r", count: 500))
        #expect(course.stoppedAfter == 200)
        #expect(course.released.isEmpty)
    }

    @Test(arguments: [(100, nil), (101, 200)]) func `half of the last 200 is not too much`(
        _ refused: Int, _ stop: Int?
    ) {
        let answers =
            String(repeating: "d", count: 200 - refused) + String(repeating: "r", count: refused)
        let course = course(answers)
        #expect(course.stoppedAfter == stop)
    }

    @Test func `only the last 200 answers count`() {
        // 10,000 good answers do not outweigh one bad minute, and an old one is forgotten.
        let course = course(
            String(repeating: "d", count: 10_000) + String(repeating: "r", count: 1_000))
        #expect(course.stoppedAfter == 10_101)
        #expect(course.released.isEmpty)
        let recovered = self.course(
            String(repeating: "d", count: 200) + String(repeating: "r", count: 100)
                + String(repeating: "d", count: 200) + String(repeating: "r", count: 100)
                + String(repeating: "d", count: 300))
        #expect(recovered.stoppedAfter == nil)
        #expect(recovered.released.map(\.count).reduce(0, +) == 200)
    }

    @Test(arguments: [(19, false), (20, true), (199, true)])
    func `at the end, 20 to 199 answers are judged as one`(_ count: Int, _ stops: Bool) {
        let course = course(String(repeating: "r", count: count))
        #expect(course.stoppedAfter == nil)
        #expect(course.stopsAtEnd == stops)
        #expect(course.releasedAtEnd == (stops ? nil : count))
    }

    @Test func `at the end, half is not too much`() {
        #expect(course(String(repeating: "rd", count: 10)).releasedAtEnd == 10)
        #expect(course(String(repeating: "rd", count: 10) + "r").stopsAtEnd)
    }

    @Test func `100 percent is off: nothing is held, nothing stops`() {
        let course = course(String(repeating: "r", count: 400), percent: 100)
        #expect(course.released.map(\.after) == Array(1...400))
        #expect(course.stoppedAfter == nil && course.releasedAtEnd == 0)
    }

    @Test func `0 percent bears no refusal`() {
        #expect(course(String(repeating: "d", count: 19) + "r", percent: 0).stopsAtEnd)
        #expect(course(String(repeating: "d", count: 300) + "r", percent: 0).stoppedAfter == 301)
    }
}
