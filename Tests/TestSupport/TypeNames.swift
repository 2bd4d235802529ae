/// The names of Swift's types, modules and cases in a text: `expired(JOSE.NumericDate(seconds: 1))`.
/// A text for people has none.
package func typeNames(in text: String) -> [String] {
    let modules =
        #/\b(?:AppleEmulator|CommandTable|CurlTransport|Diagnosis|EmulatorServer|HTTPServer|JOSE|Lifecycle|LocalFiles|RealWorld|SIWACLI|SIWACrypto|SIWAServer|ServerRecords|SignInWithApple\w*|Swift|TokenVault)\.[A-Za-z]\w*/#
    let values = #/\b(?:[A-Z]+[a-z]\w*\((?:[a-z]\w*: |\))|[a-z]+[A-Z]\w*\(|Optional\()/#
    return text.matches(of: modules.wordBoundaryKind(.simple)).map { String($0.output) }
        + text.matches(of: values.wordBoundaryKind(.simple)).map { String($0.output) }
}
