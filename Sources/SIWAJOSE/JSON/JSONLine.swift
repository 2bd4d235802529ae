internal import SIWACrypto

/// An object on one line, written member by member.
package struct JSONLine: Sendable {
    private var writer: JSONWriter
    private var isEmpty = true

    /// An object without members, after other lines.
    package init(after lines: consuming [UInt8] = []) {
        writer = JSONWriter(indented: false, output: consume lines)
        writer.output.append(UInt8(ascii: "{"))
    }

    /// Adds a member. The caller must not add two members with the same name.
    package mutating func add(_ member: JSON.Member) {
        quote(member.name)
        writer.write(member.value, depth: 1)
    }

    /// Adds a member whose value is one of a text's, by its index. The caller must not add two members
    /// with the same name.
    package mutating func add(_ name: String, _ text: JSONText, at index: Int) {
        quote(name)
        writer.write(text, at: index)
    }

    /// Adds a member.
    package mutating func add(_ name: StaticString, _ value: JSON) {
        begin(name)
        writer.write(value, depth: 1)
    }

    /// Adds a member that is a string.
    package mutating func add(_ name: StaticString, _ text: String) {
        begin(name)
        writer.quote(text)
    }

    /// Adds a member that is a number.
    package mutating func add(_ name: StaticString, _ number: Int) {
        begin(name)
        writer.append(number)
    }

    /// Adds a member that is a moment in RFC 3339.
    package mutating func add(_ name: StaticString, _ moment: NumericDate) {
        begin(name)
        writer.output.append(addingCapacity: NumericDate.mostCharacters + 2) { output in
            output.append(UInt8(ascii: "\""))
            moment.appendRFC3339(to: &output)
            output.append(UInt8(ascii: "\""))
        }
    }

    /// Adds a member whose value `write` appends.
    package mutating func add(_ name: StaticString, _ write: (inout [UInt8]) -> Void) {
        begin(name)
        write(&writer.output)
    }

    /// Adds a member whose value is the header of a token.
    package mutating func add(_ name: StaticString, headerOf token: CompactJWS) {
        begin(name)
        writer.write(token.heading.text)
    }

    /// Adds a member whose value is ``JSON/normalizedClaims`` of a token's claims.
    package mutating func add(_ name: StaticString, normalizedClaimsOf token: CompactJWS) {
        let claims = token.claims
        guard claims.canBeEdited else { return add(name, claims.value.normalizedClaims) }
        begin(name)
        writer.output.append(addingCapacity: claims.mostNormalizedBytes) {
            claims.appendNormalized(to: &$0)
        }
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

    private mutating func quote(_ name: String) {
        writer.quote(name, after: isEmpty ? nil : ",", before: ":")
        isEmpty = false
    }

    /// - Parameter name: characters that need no escape.
    private mutating func begin(_ name: StaticString) {
        let isFirst = isEmpty
        isEmpty = false
        writer.output.append(addingCapacity: name.utf8CodeUnitCount + 4) { output in
            if !isFirst { output.append(UInt8(ascii: ",")) }
            output.append(UInt8(ascii: "\""))
            output.append(name)
            output.append(UInt8(ascii: "\""))
            output.append(UInt8(ascii: ":"))
        }
    }
}
