internal import SIWAJOSE

/// The texts that an input of a token's target means: itself, and the token with the
/// input's lines for header, claims and signature.
///
/// Few changes to base64url result in JSON; changes to the lines do, so that the fuzzer gets
/// past the first gate.
func tokens(in input: [UInt8]) -> [[UInt8]] {
    let lines = input.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
    guard lines.count == 3 else { return [input] }
    return [input, Array(lines.map { Base64URL.encode($0) }.joined(separator: ".").utf8)]
}
