import Testing

@testable import SIWAJOSE

@Suite struct ByteWordsTests {
    @Test(arguments: [UInt8(ascii: "."), 0x00, 0x7F, 0x80, 0xFF])
    func `a byte is found at every position, and its neighbours are not`(_ byte: UInt8) {
        for length in 0...20 {
            // What differs from the byte in one bit surrounds it.
            let around = (0..<length).map { byte ^ 1 << UInt8($0 % 8) }
            #expect(around.span.index { $0.marking(byte) } == length)
            for place in 0..<length {
                var bytes = around
                bytes[place] = byte
                for start in 0...length {
                    let found = bytes.span.index(from: start) { $0.marking(byte) }
                    #expect(found == (start <= place ? place : length))
                }
            }
        }
    }

    @Test func `every byte below a limit is found, and no other`() {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<11 {
                var bytes = [UInt8](repeating: 0x20, count: 11)
                bytes[place] = byte
                #expect(bytes.span.index { $0.marking(below: 0x20) } == (byte < 0x20 ? place : 11))
            }
        }
    }

    @Test func `the first of several matching bytes is found`() {
        let bytes: [UInt8] = Array("abc\"\"d.e...".utf8)
        let found = bytes.span.index { $0.marking(UInt8(ascii: ".")) | $0.marking(0x22) }
        #expect(found == 3)
    }
}
