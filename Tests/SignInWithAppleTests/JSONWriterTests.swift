import SIWAJOSE
import SIWALifecycle
import SIWATestSupport
import Testing

@Suite struct JSONWriterTests {
    static let written: [Row<(JSON, String)>] = [
        Row("an object in its order", (["b": 1, "a": .null], #"{"b":1,"a":null}"#)),
        Row("an array", ([true, false, -1, "x"], #"[true,false,-1,"x"]"#)),
        Row("nothing in them", ([[], .object([])], "[[],{}]")),
        Row("a number as it stood", (.number("1.50e+07"), "1.50e+07")),
        Row("the least Int", (.integer(.min), "-9223372036854775808")),
        Row("quotes and backslashes", (#"a"b\c"#, #""a\"b\\c""#)),
        Row("a slash is not escaped", ("https://x/", #""https://x/""#)),
        Row("line ends and tabs", ("\n\r\t", #""\n\r\t""#)),
        Row(
            "other control characters",
            ("\0\u{1}\u{8}\u{C}\u{1F}\u{7F}", #""\u0000\u0001\u0008\u000c\u001f\u007f""#)),
        Row("letters of all alphabets", ("\u{E9}\u{20AC}\u{1F600}", "\"\u{E9}\u{20AC}\u{1F600}\"")),
    ]

    @Test(arguments: written) func `values are written as expected`(_ row: Row<(JSON, String)>)
        throws
    {
        #expect(row.value.0.text == row.value.1)
        #expect(row.value.0.bytes == Array(row.value.1.utf8))
        #expect(try JSON(text: row.value.1) == row.value.0)
    }

    @Test func `the indented form has one member on each line`() {
        let value: JSON = ["a": [1, 2], "b": .object([]), "c": ["d": "e"], "f": []]
        #expect(
            value.indentedText == """
                {
                  "a": [
                    1,
                    2
                  ],
                  "b": {},
                  "c": {
                    "d": "e"
                  },
                  "f": []
                }
                """)
    }

    @Test func `500 random values are written and read back`() throws {
        var source = SeededRandom(seed: 3)
        for _ in 0..<500 {
            let value = random(depth: 0, &source)
            #expect(try JSON(value.bytes) == value)
            #expect(try JSON(text: value.indentedText) == value)
        }
    }

    private func random(depth: Int, _ source: inout SeededRandom) -> JSON {
        switch Int.random(in: 0..<(depth < 4 ? 7 : 5), using: &source) {
        case 0: return .null
        case 1: return .boolean(Bool.random(using: &source))
        case 2: return .integer(Int.random(in: .min ... .max, using: &source))
        case 3: return .number("\(Int.random(in: 0...9, using: &source)).5E-7")
        case 4: return .string(text(&source))
        case 5:
            return .array(
                (0..<Int.random(in: 0..<5, using: &source)).map { _ in
                    random(depth: depth + 1, &source)
                })
        default:
            return .object(
                (0..<Int.random(in: 0..<5, using: &source)).map {
                    JSON.Member("\($0)" + text(&source), random(depth: depth + 1, &source))
                })
        }
    }

    private func text(_ source: inout SeededRandom) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0..<8, using: &source) {
            let value = UInt32.random(in: 0...0x10FFFF, using: &source)
            let small = Bool.random(using: &source) ? value % 128 : value
            if let scalar = Unicode.Scalar(small) { text.unicodeScalars.append(scalar) }
        }
        return text
    }
}
