import SIWASystem
import SIWATestSupport
import Testing

@Suite struct SlotFileTests {
    @Test func `slots keep their values in any order, and are zero before they are set`() throws {
        let folder = try TemporaryFolder()
        let file = try SlotFile(in: folder.path)
        let numbers = [0, 1, 255, 256, 70_000, 1_000_000, 3, 4_000_000_000, 257]
        for number in numbers {
            #expect(try file.slot(number) == .zero)
            try file.set(number, to: SIMD2(UInt64(number) + 1, ~UInt64(number)))
        }
        for number in numbers.reversed() {
            #expect(try file.slot(number) == SIMD2(UInt64(number) + 1, ~UInt64(number)))
            #expect(try file.slot(number + 2) == .zero || numbers.contains(number + 2))
        }
        try file.set(3, to: .zero)
        #expect(try file.slot(3) == .zero)
        #expect(namesInFolder(folder.path).isEmpty)
    }

    @Test func `creating the file in a missing folder fails`() {
        let error = #expect(throws: FileError.self) { try SlotFile(in: "/no/such/folder") }
        #expect(error?.isMissing == true)
    }
}
