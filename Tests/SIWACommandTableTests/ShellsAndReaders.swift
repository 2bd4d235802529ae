import SIWATestSupport

/// The shells and manual readers that these tests call, if they are installed.
extension Executable {
    static let bash = installed("bash")
    static let zsh = installed("zsh")
    static let fish = installed("fish")
    static let man = installed("man")
    static let mandoc = installed("mandoc")

    /// What it prints: standard output, then standard error.
    func printed(_ arguments: [String], in folder: String = "/") async throws -> String {
        let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "dumb"]
        let result = try await Executable(path: "/usr/bin/env").run(
            Call(
                ["-C", folder, path] + arguments, environment: environment, limit: .seconds(300)))
        return result.output + result.errors
    }
}
