import SIWASystem
import Testing

@testable import SIWAApplication
@testable import SIWACLI

@Suite struct FileDiagnosisTests {
    static let rows: [(operation: String, code: Int32, hint: String)] = [
        ("read", 2, "give a usable path"), ("write", 20, "give a usable path"),
        ("read", 13, "give a file that this user may read"),
        ("write", 1, "give a file of this user, in a folder that this user may write"),
        ("create", 30, "give a file of this user, in a folder that this user may write"),
    ]

    @Test(arguments: rows)
    func `a file that cannot be used has a hint`(
        _ row: (operation: String, code: Int32, hint: String)
    ) {
        let error = FileError(row.operation, "/x", reason: "no", code: row.code)
        #expect(error.diagnosis.hints == [row.hint])
        #expect(error.diagnosis.exitCode == .settings)
    }
}
