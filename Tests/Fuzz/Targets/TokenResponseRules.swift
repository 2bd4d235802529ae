internal import SIWAJOSE
internal import SIWALifecycle

/// An answer can be printed, and what is printed for debugging has no token in it.
func checkTokenResponse(_ input: [UInt8]) throws(Violation) {
    if let refusal = AppleError(HTTPResponse(status: 400, body: input)) {
        try demand(!refusal.code.rawValue.isEmpty, "a refusal has a code")
    }
    guard let answer = TokenResponse(input) else { return }
    let members = answer.members(at: NumericDate(1_800_000_000))
    let apples = (try? JSON(input))?.members?
        .filter { !TokenResponse.addedMemberNames.contains($0.name) }
    try demand(
        apples.map { members.starts(with: $0) } == true,
        "an answer's members come as they came, but for those that siwa adds")
    var text = ""
    dump(answer, to: &text)
    let secrets = [answer.accessToken.text, answer.refreshToken?.text, answer.identityToken]
    // What is shorter than Apple's tokens can be the text of a number beside it.
    for secret in secrets.compactMap({ $0?.revealed() }) where secret.utf8.count > 24 {
        try demand(!text.contains(secret), "a dump has no token in it")
    }
}
