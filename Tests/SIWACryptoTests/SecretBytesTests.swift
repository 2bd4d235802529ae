import SIWACrypto
import Testing

@Suite struct SecretBytesTests {
    @Test(arguments: [0, 1, 15, 16, 17, 255, 256, 257, 100_000])
    func `a buffer keeps its contents when it grows`(_ count: Int) {
        let expected = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var buffer = SecretBuffer(capacity: 0)
        for byte in expected { buffer.append(byte) }
        #expect(buffer.count == count)
        let secret = buffer.finished()
        #expect(secret.count == count)
        #expect(secret.revealed() == expected)
    }

    @Test func `all append methods add at the end`() {
        var buffer = SecretBuffer(capacity: 1)
        buffer.append(1)
        buffer.append(contentsOf: [2, 3])
        buffer.append(contentsOf: [UInt8]([4, 5]).span)
        [UInt8]([6, 7]).withUnsafeBytes { buffer.append(contentsOf: $0) }
        [UInt8]().withUnsafeBytes { buffer.append(contentsOf: $0) }
        let written = buffer.append(upTo: 1000) { room in
            (room[0], room[1]) = (8, 9)
            #expect(room.count == 1000)
            return 2
        }
        #expect(written == 2)
        #expect(buffer.append(upTo: 10) { _ in -1 } == -1)
        #expect(buffer.finished().revealed() == [1, 2, 3, 4, 5, 6, 7, 8, 9])
    }

    @Test func `a fill that throws adds nothing`() throws {
        struct Refusal: Error {}
        var buffer = SecretBuffer()
        buffer.append(1)
        #expect(throws: Refusal.self) {
            _ = try buffer.append(upTo: 100) { _ throws(Refusal) in throw Refusal() }
        }
        #expect(buffer.finished().revealed() == [1])
    }

    @Test func `a sequence of unknown length becomes a secret`() {
        let bytes = sequence(first: UInt8(1)) { $0 < 100 ? $0 + 1 : nil }
        #expect(SecretBytes(bytes).revealed() == Array(1...100))
    }

    @Test func `the borrowed span has exactly the bytes, not the capacity`() {
        let secret = SecretBytes([7, 8, 9])
        secret.withSpan { bytes in
            #expect(bytes.count == 3)
            #expect(bytes[2] == 9)
        }
        #expect(secret.withUnsafeBytes { $0.count } == 3)
        #expect(SecretBytes([]).withSpan { $0.isEmpty })
    }

    @Test func `errors of the borrowing closure are rethrown`() {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try SecretBytes([1]).withSpan { _ throws(Refusal) in throw Refusal() }
        }
    }

    @Test func `a printed or dumped secret shows nothing`() {
        func shown(_ text: String) -> [String] {
            let secret = SecretBytes(Array(text.utf8))
            var dumped = ""
            dump(secret, to: &dumped)
            // An address tells nothing, and can contain any digits.
            return ["\(secret)", String(reflecting: secret), dumped].map {
                $0.replacing(/0x[0-9a-f]+|pointerValue: [0-9]+/, with: "")
            }
        }
        #expect(shown("hunter2") == shown("Tr0ub4d"))
    }
}
