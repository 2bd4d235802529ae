// X: manners, whatever was sent.
extension ConformRun {
    func checkManners() async throws {
        let all = [
            ("X01", manners.errors, "no answer was a 5xx"),
            ("X02", manners.slow, "every answer came in time"),
            ("X03", manners.cut, "every request was answered"),
        ]
        for (id, found, none) in all {
            try await check(id, nil) {
                [
                    CheckResult.Variant(
                        comment: "\(manners.sent) requests",
                        outcome: found.isEmpty ? none : found.prefix(3).joined(separator: ", "),
                        status: nil, isWrong: !found.isEmpty)
                ]
            }
        }
    }
}
