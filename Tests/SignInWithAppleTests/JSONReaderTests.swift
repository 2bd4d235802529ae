import Foundation
import SIWATestSupport
import Testing

@testable import SIWAJOSE

@Suite struct JSONReaderTests {
    static let accepted: [Row<(String, JSON)>] = [
        Row("null", ("null", .null)), Row("true", ("true", true)), Row("false", ("false", false)),
        Row("spaces of all kinds", (" \t\r\n1 \t\r\n", 1)), Row("0", ("0", 0)),
        Row("-0", ("-0", 0)), Row("-1", ("-1", -1)),
        Row("the largest Int", ("9223372036854775807", .integer(.max))),
        Row("the least Int", ("-9223372036854775808", .integer(.min))),
        Row("an integer beyond Int", ("9223372036854775808", .number("9223372036854775808"))),
        Row(
            "an integer of 400 digits",
            (String(repeating: "9", count: 400), .number(String(repeating: "9", count: 400)))),
        Row("a fraction", ("1.50", .number("1.50"))), Row("1e5", ("1e5", .number("1e5"))),
        Row("1E+5", ("1E+5", .number("1E+5"))), Row("1e-05", ("1e-05", .number("1e-05"))),
        Row("1e300", ("1e300", .number("1e300"))), Row("1e99999", ("1e99999", .number("1e99999"))),
        Row("-0.0", ("-0.0", .number("-0.0"))), Row("an empty string", ("\"\"", "")),
        Row("a string", ("\"abc\"", "abc")),
        Row("every short escape", (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t")),
        Row("an escaped letter", (#""\u0041\u00e9\u00E9""#, "A\u{E9}\u{E9}")),
        Row("an escaped NUL", (#""\u0000""#, "\0")),
        Row("a surrogate pair", (#""\ud83d\ude00""#, "\u{1F600}")),
        Row("the last code point", (#""\udbff\udfff""#, "\u{10FFFF}")),
        Row(
            "UTF-8 of 2, 3 and 4 bytes", ("\"\u{E9}\u{20AC}\u{1F600}\"", "\u{E9}\u{20AC}\u{1F600}")),
        Row("DEL", ("\"\u{7F}\"", "\u{7F}")), Row("a noncharacter", ("\"\u{FFFF}\"", "\u{FFFF}")),
        Row("a byte order mark in a string", ("\"\u{FEFF}\"", "\u{FEFF}")),
        Row("an empty array", ("[ ]", [])), Row("an array", ("[1, \"a\",null]", [1, "a", .null])),
        Row("an empty object", ("{ }", .object([]))),
        Row("an object, in its order", (#"{ "b" : 1 , "a" : [ ] }"#, ["b": 1, "a": []])),
        Row("an empty name", (#"{"":0}"#, ["": 0])),
        Row("names that differ in case", (#"{"a":0,"A":1}"#, ["a": 0, "A": 1])),
        Row("the same name in two objects", (#"[{"a":0},{"a":1}]"#, [["a": 0], ["a": 1]])),
    ]

    @Test(arguments: accepted) func `valid JSON is read`(_ row: Row<(String, JSON)>) throws {
        let value = try JSON(text: row.value.0)
        #expect(value == row.value.1)
        #expect(try JSON(value.bytes) == value, "written, and read again")
        #expect(try JSON(text: value.indentedText) == value, "written for people, and read again")
    }

    static let refused: [Row<(String, JSONError.Reason)>] = [
        Row("nothing", ("", .ended)), Row("spaces", ("  \n", .ended)),
        Row("a byte order mark", ("\u{FEFF}1", .unexpected)), Row("a NUL", ("\0", .unexpected)),
        Row("a NUL after it", ("1\0", .trailing)), Row("a second value", ("1 2", .trailing)),
        Row("a bracket after it", ("{}}", .trailing)), Row("a comma after it", ("[],", .trailing)),
        Row("a comment", ("/**/1", .unexpected)), Row("a form feed", ("\u{C}1", .unexpected)),
        Row("a no-break space", ("\u{A0}1", .unexpected)),
        Row("01", ("01", .number)), Row("-01", ("-01", .number)), Row("00", ("00", .number)),
        Row("1.", ("1.", .number)), Row("-", ("-", .number)), Row("--1", ("--1", .number)),
        Row("+1", ("+1", .unexpected)), Row(".5", (".5", .unexpected)), Row("1e", ("1e", .number)),
        Row("1e+", ("1e+", .number)), Row("1.e1", ("1.e1", .number)),
        Row("0x1", ("0x1", .trailing)),
        Row("1_000", ("1_000", .trailing)), Row("Infinity", ("Infinity", .unexpected)),
        Row("-Infinity", ("-Infinity", .number)), Row("NaN", ("NaN", .unexpected)),
        Row("full-width digits", ("\u{FF11}", .unexpected)),
        Row("True", ("True", .unexpected)), Row("nul", ("nul", .unexpected)),
        Row("truex", ("truex", .trailing)), Row("an open string", ("\"a", .ended)),
        Row("single quotes", ("'a'", .unexpected)),
        Row("a raw line feed", ("\"\n\"", .controlCharacter)),
        Row("a raw tab", ("\"\t\"", .controlCharacter)),
        Row("a raw NUL", ("\"\0\"", .controlCharacter)),
        Row("an escape of nothing", (#""\"#, .ended)),
        Row("an unknown escape", (#""\a""#, .escape)),
        Row("an escape of two digits", (#""\x41""#, .escape)),
        Row("three digits", (#""\u004""#, .escape)),
        Row("an escape cut short", (#""\u00"#, .ended)),
        Row("four digits, one no digit", (#""\u00G0""#, .escape)),
        Row("a sign among the digits", (#""\u+041""#, .escape)),
        Row("full-width hex digits", ("\"\\u00\u{FF14}1\"", .escape)),
        Row("a lone high surrogate", (#""\ud83d""#, .escape)),
        Row("a high surrogate and a letter", (#""\ud83dx""#, .escape)),
        Row("two high surrogates", (#""\ud83d\ud83d""#, .escape)),
        Row("a lone low surrogate", (#""\ude00""#, .escape)),
        Row("surrogates the wrong way round", (#""\ude00\ud83d""#, .escape)),
        Row("an open array", ("[1", .ended)), Row("a comma at the end", ("[1,]", .unexpected)),
        Row("a comma at the start", ("[,1]", .unexpected)),
        Row("two commas", ("[1,,2]", .unexpected)),
        Row("no comma", ("[1 2]", .unexpected)), Row("the wrong bracket", ("[1}", .unexpected)),
        Row("an open object", ("{", .ended)), Row("a name alone", (#"{"a"}"#, .unexpected)),
        Row("no value", (#"{"a":}"#, .unexpected)), Row("no colon", (#"{"a" 1}"#, .unexpected)),
        Row("a comma at an object's end", (#"{"a":1,}"#, .unexpected)),
        Row("a bare name", ("{a:1}", .unexpected)),
        Row("a number as a name", ("{1:1}", .unexpected)),
        Row("a member twice", (#"{"a":1,"a":1}"#, .duplicate("a"))),
        Row("a member twice, once escaped", (#"{"a":1,"\u0061":2}"#, .duplicate("a"))),
        Row("a member twice, first escaped", (#"{"\u0061":1,"b":3,"a":2}"#, .duplicate("a"))),
        Row("a member without a name twice", (#"{"":1,"b":3,"":2}"#, .duplicate(""))),
        Row("a member twice, deep down", (#"[{"x":{"b":1,"c":2,"b":3}}]"#, .duplicate("b"))),
    ]

    @Test(arguments: refused) func `invalid JSON is refused with the reason`(
        _ row: Row<(String, JSONError.Reason)>
    ) {
        #expect {
            try JSON(text: row.value.0)
        } throws: { error in
            (error as? JSONError)?.reason == row.value.1
        }
    }

    static let notUTF8: [Row<[UInt8]>] = [
        Row("a continuation alone", [0x80]), Row("a lead alone", [0xC3]),
        Row("an overlong slash", [0xC0, 0xAF]), Row("an overlong NUL", [0xE0, 0x80, 0x80]),
        Row("a surrogate in UTF-8", [0xED, 0xA0, 0x80]),
        Row("beyond Unicode", [0xF4, 0x90, 0x80, 0x80]), Row("0xFF", [0xFF]),
        Row("cut in the middle", [0xF0, 0x9F, 0x98]), Row("Latin-1", [0x61, 0xE9, 0x62]),
    ]

    @Test(arguments: notUTF8) func `bytes that are not UTF-8 are refused`(_ row: Row<[UInt8]>) {
        #expect {
            try JSON([0x22] + row.value + [0x22])
        } throws: { error in
            (error as? JSONError)?.reason == .notUTF8
        }
        #expect(throws: JSONError.self) { try JSON(row.value) }
        #expect(throws: JSONError.self) {
            try JSON([0x7B, 0x22] + row.value + Array("\":1}".utf8))
        }
    }

    /// Members are compared by their code points (RFC 8259 §8.3): Swift's own == takes the
    /// Kelvin sign for a K.
    @Test func `names that only look alike are different`() throws {
        let value = try JSON(text: "{\"\u{212A}\":1,\"K\":2,\"\u{E9}\":3,\"e\u{301}\":4}")
        #expect(value.members?.count == 4)
        #expect(value["K"] == 2)
        #expect(value["\u{212A}"] == 1)
        #expect(value["e\u{301}"] == 4)
    }

    @Test(arguments: [1, 2, 31, 32]) func `values nested up to the limit are read`(_ depth: Int)
        throws
    {
        for (open, item, close) in [("[", "", "]"), ("[", "1", "]"), (#"{"a":"#, "1", "}")] {
            let text =
                String(repeating: open, count: depth) + item
                + String(repeating: close, count: depth)
            #expect(throws: Never.self, "\(depth) times \(open)") { try JSON(text: text) }
        }
    }

    @Test(arguments: [33, 34, 1000, 100_000])
    func `values nested deeper than the limit are refused`(_ depth: Int) {
        for open in ["[", #"{"a":"#, #"[{"a":"#] {
            let text = String(repeating: open, count: depth)
            #expect("\(depth) times \(open)") {
                try JSON(text: text)
            } throws: { error in
                (error as? JSONError)?.reason == .depth
            }
        }
    }

    @Test func `an error contains line and offset`() {
        #expect(throws: JSONError(reason: .duplicate("b"), offset: 12, line: 3)) {
            try JSON(text: "{\"b\": 1,\n\n  \"b\": 2}")
        }
        #expect {
            try JSON(text: "[1,\n 2,\n x]")
        } throws: { error in
            (error as? JSONError)?.line == 3 && (error as? JSONError)?.offset == 9
        }
    }

    static let document = """
        {"a":[1,-2.5e3,true,false,null],"b":{"c":"\\u00e9\\ud83d\\ude00\u{20AC}"},"d":"\\n","e":[]}
        """

    @Test func `every incomplete document is refused`() {
        let bytes = Array(Self.document.utf8)
        for count in 0..<bytes.count {
            #expect(throws: JSONError.self, "\(count) bytes") { try JSON(bytes.prefix(count)) }
        }
    }

    @Test
    func `10,000 damaged documents cause no crash, and every value that is read can be written`()
        throws
    {
        var random = SeededRandom(seed: 2)
        let original = Array(Self.document.utf8)
        var read = 0
        for _ in 0..<10_000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: place)
                default:
                    bytes.insert(original[original.count - 1 - place % original.count], at: place)
                }
            }
            guard let value = try? JSON(bytes) else { continue }
            read += 1
            #expect(try JSON(value.bytes) == value)
        }
        // Both kinds must occur, or nothing was tested.
        #expect(read > 100)
        #expect(read < 9000)
    }

    @Test func `kinds and members are distinguished`() {
        let value: JSON = ["s": "x", "i": 7, "b": true, "a": [1], "o": ["k": 1], "n": .null]
        #expect(value["s"]?.string == "x" && value["s"]?.integer == nil)
        #expect(value["i"]?.integer == 7 && value["i"]?.string == nil)
        #expect(value["b"]?.boolean == true && value["a"]?.elements == [1])
        #expect(value["o"]?.members?.count == 1 && value["missing"] == nil)
        #expect(value["s"]?["x"] == nil && JSON.null["x"] == nil)
        let kinds = ["s", "i", "b", "a", "o", "n"].map { value[$0]?.kind ?? "" }
        #expect(kinds == ["a string", "a number", "a boolean", "an array", "an object", "null"])
    }
}
