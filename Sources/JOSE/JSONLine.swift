/// An object on one line, written member by member.
package struct JSONLine: Sendable {
    private var writer: JSONWriter
    private var isEmpty = true

    /// An object without members, after other lines.
    package init(after lines: consuming [UInt8] = []) {
        writer = JSONWriter(indented: false, output: lines)
        writer.output.append(UInt8(ascii: "{"))
    }

    /// Adds a member. The caller must not add two members with the same name.
    package mutating func add(_ name: String, _ value: JSON) {
        begin(name)
        writer.write(value, depth: 1)
    }

    /// Adds a member.
    package mutating func add(_ member: JSON.Member) { add(member.name, member.value) }

    /// Adds a member whose value is written already.
    package mutating func add(_ name: String, written value: [UInt8]) {
        begin(name)
        writer.output += value
    }

    /// Adds a member whose value is the header of a token.
    package mutating func add(_ name: String, headerOf token: CompactJWS) {
        begin(name)
        writer.write(token.heading.text)
    }

    /// Adds a member whose value is ``JSON/normalizedClaims`` of a token's claims.
    package mutating func add(_ name: String, normalizedClaimsOf token: CompactJWS) {
        let claims = token.claims
        guard claims.isPlain else { return add(name, claims.value.normalizedClaims) }
        let text = claims.bytes
        begin(name)
        writer.output.append(UInt8(ascii: "{"))
        isEmpty = true
        claims.forEachNormalizedPart { part in
            switch part {
            case .text(let range):
                writer.append(text.span.extracting(range), after: isEmpty ? nil : ",")
                isEmpty = false
            case .claim(let name, .value(let value)): add(name, value)
            case .claim(let name, .moment(let moment)):
                begin(name)
                writer.quote(moment)
            }
        }
        isEmpty = false
        writer.output.append(UInt8(ascii: "}"))
    }

    /// The lines before it, the object in UTF-8, and a line end.
    package consuming func finished() -> [UInt8] {
        writer.output.append(UInt8(ascii: "}"))
        writer.output.append(0x0A)
        return writer.output
    }

    /// The lines before it, and the object in UTF-8.
    package consuming func finishedWithoutLineEnd() -> [UInt8] {
        writer.output.append(UInt8(ascii: "}"))
        return writer.output
    }

    private mutating func begin(_ name: String) {
        writer.quote(name, after: isEmpty ? nil : ",", before: ":")
        isEmpty = false
    }
}
