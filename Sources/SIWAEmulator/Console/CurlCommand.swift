internal import SIWACrypto
internal import SIWALifecycle

/// A request as a command line; each secret is a variable of the shell.
struct CurlCommand {
    let text: String

    init(_ record: RequestRecord, _ details: RequestDetails) {
        let trust = details.origin.hasPrefix("https:") ? "--cacert ca.pem " : ""
        var parts = ["curl \(trust)\(Self.quoted(details.origin + record.path))"]
        if record.method == "GET" {
            if !details.parameters.isEmpty { parts.append("--get") }
        } else if details.parameters.isEmpty {
            parts.append("--request \(Self.quoted(record.method))")
        }
        if let field = details.fields["authorization"] {
            let scheme = field.prefix { $0 != " " }
            parts.append(#"--header "Authorization: \#(Self.word(String(scheme))) $BEARER""#)
        }
        parts += details.parameters.map(Self.parameter)
        text = parts.joined(separator: " \\\n  ")
    }

    private static func parameter(_ parameter: SentParameter) -> String {
        let encoded = Form([(parameter.name, .plain(""))]).encoded().revealed()
        let name = String(String(decoding: encoded, as: UTF8.self).dropLast())
        guard let value = ShownParameter(parameter).value else {
            return #"--data-urlencode "\#(name)=$\#(word(parameter.name).uppercased())""#
        }
        return "--data-urlencode \(quoted("\(name)=\(value)"))"
    }

    /// Quotes a text for the shell; only a quotation mark can end such a quotation.
    private static func quoted(_ text: String) -> String {
        "'"
            + text.split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: #"'\''"#)
            + "'"
    }

    /// The letters, digits and underscores of a text that a client sent.
    private static func word(_ text: String) -> String {
        let letters = text.unicodeScalars.filter {
            $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || ("0"..."9").contains($0))
        }
        let word = String(String.UnicodeScalarView(letters.prefix(40)))
        return word.first?.isLetter == true ? word : "SECRET"
    }
}
