/// The names of Swift's types, modules and cases in a text: `expired(SIWAJOSE.NumericDate(seconds: 1))`.
/// A message for users has no such name.
package func typeNames(in text: String) -> [String] {
    let modules =
        #/\b(?:SIWA\w+|SignInWithApple\w*|Swift)\.[A-Za-z]\w*/#
    let values = #/\b(?:[A-Z]+[a-z]\w*\((?:[a-z]\w*: |\))|[a-z]+[A-Z]\w*\(|Optional\()/#
    return text.matches(of: modules.wordBoundaryKind(.simple)).map { String($0.output) }
        + text.matches(of: values.wordBoundaryKind(.simple)).map { String($0.output) }
}
