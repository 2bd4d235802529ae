import Foundation
import SIWATestSupport
import Testing

@testable import SIWASystem

@Suite struct ExternalSortTests {
    /// Entries with few keys, so that many are equal, and values that tell their order.
    private func entries(_ count: Int) -> [(key: [UInt8], value: [UInt8])] {
        var random = SeededRandom.announced(for: "a sort")
        return (0..<count).map { number in
            let key = Int.random(in: 0..<max(count / 3, 1), using: &random)
            let text = String(key, radix: 7) + String(repeating: "x", count: key % 60)
            return (Array(text.utf8), Array("\(number)".utf8))
        }
    }

    /// In memory, in one run, in many, and with fewer bytes than an entry has.
    @Test(arguments: [(0, 1 << 20), (500, 1 << 20), (20_000, 1 << 20), (20_000, 9000), (40, 1)])
    func `entries are sorted, and equal keys keep their order`(
        _ count: Int, _ memory: Int
    ) throws {
        let folder = try TemporaryFolder()
        let sort = ExternalSort(in: folder.path, memory: memory)
        let added = entries(count)
        for entry in added { try sort.add(entry.key, entry.value) }
        #expect(sort.count == count)
        #expect(namesInFolder(folder.path).isEmpty)
        let sorted = try sort.sorted()
        var found: [(key: [UInt8], value: [UInt8])] = []
        while let entry = try sorted.next() { found.append((entry.key, entry.value)) }
        let expected = added.enumerated().sorted { left, right in
            left.element.key == right.element.key
                ? left.offset < right.offset
                : left.element.key.lexicographicallyPrecedes(right.element.key)
        }.map(\.element)
        #expect(found.map(\.key) == expected.map(\.key))
        #expect(found.map(\.value) == expected.map(\.value))
    }

    @Test func `an entry can be empty or larger than the memory limit`() throws {
        let folder = try TemporaryFolder()
        let sort = ExternalSort(in: folder.path, memory: 5000)
        let long = [UInt8](repeating: 9, count: 100_000)
        for number in 0..<10 {
            try sort.add([UInt8(number % 3)], number % 2 == 0 ? long : [])
        }
        try sort.add([], [1])
        let sorted = try sort.sorted()
        #expect(try sorted.next()?.value == [1])
        var lengths: [Int] = []
        while let entry = try sorted.next() { lengths.append(entry.value.count) }
        #expect(lengths == [100_000, 0, 100_000, 0, 0, 100_000, 0, 100_000, 0, 100_000])
    }

    @Test func `more entries than fit in memory need a folder`() throws {
        let sort = ExternalSort(in: "/no/such/folder", memory: 1000)
        let error = #expect(throws: FileError.self) {
            for _ in 0..<1000 { try sort.add([1], [2]) }
        }
        #expect(error?.isMissing == true && error?.isLostOutput == false)
        #expect(
            error?.description
                == "cannot create a temporary file in '/no/such/folder': no such file or directory")
        #expect(error?.remedy?.contains("TMPDIR") == true)
    }
}
