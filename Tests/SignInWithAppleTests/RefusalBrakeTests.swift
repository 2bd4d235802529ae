import Testing

@testable import SIWALifecycle

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

    @Test func `a refusal is held until 200 more answers have arrived`() {
        let course = course("r" + String(repeating: "d", count: 201))
        #expect(course.released.map(\.after) == [201] && course.released.map(\.count) == [1])
        #expect(course.releasedAtEnd == 0)
        let shorter = self.course("r" + String(repeating: "d", count: 199))
        #expect(shorter.released.isEmpty && shorter.releasedAtEnd == 1)
    }

    @Test func `after 200 answers, the brake stops a run without successes`() {
        let course = course(String(repeating: "r", count: 500))
        #expect(course.stoppedAfter == 200)
        #expect(course.released.isEmpty)
    }

    @Test(arguments: [(100, nil), (101, 200)])
    func `the brake accepts refusals of half of the last 200 answers`(
        _ refused: Int, _ stop: Int?
    ) {
        let answers =
            String(repeating: "d", count: 200 - refused) + String(repeating: "r", count: refused)
        let course = course(answers)
        #expect(course.stoppedAfter == stop)
    }

    @Test func `only the last 200 answers count`() {
        // Only recent answers count: 10,000 earlier successes do not outweigh later refusals.
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
    func `at the end, 20 to 199 answers are judged together`(_ count: Int, _ stops: Bool) {
        let course = course(String(repeating: "r", count: count))
        #expect(course.stoppedAfter == nil)
        #expect(course.stopsAtEnd == stops)
        #expect(course.releasedAtEnd == (stops ? nil : count))
    }

    @Test func `at the end, the brake accepts refusals of half of the answers`() {
        #expect(course(String(repeating: "rd", count: 10)).releasedAtEnd == 10)
        #expect(course(String(repeating: "rd", count: 10) + "r").stopsAtEnd)
    }

    @Test func `100 percent disables the brake`() {
        let course = course(String(repeating: "r", count: 400), percent: 100)
        #expect(course.released.map(\.after) == Array(1...400))
        #expect(course.stoppedAfter == nil && course.releasedAtEnd == 0)
    }

    @Test func `at 0 percent, one refusal stops the run`() {
        #expect(course(String(repeating: "d", count: 19) + "r", percent: 0).stopsAtEnd)
        #expect(course(String(repeating: "d", count: 300) + "r", percent: 0).stoppedAfter == 301)
    }
}
