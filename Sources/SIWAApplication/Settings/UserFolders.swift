/// The folders of the user, from environment variables.
///
/// A relative path is ignored, as the XDG Base Directory Specification requires: it would mean the
/// working directory, which may contain files of others.
package struct UserFolders: Sendable {
    package let home: String?
    /// `$XDG_CONFIG_HOME`, by default `~/.config`.
    package let configuration: String?
    /// `$XDG_CACHE_HOME`, by default `~/.cache`.
    let cache: String?
    /// Warnings about ignored variables.
    package let warnings: [String]

    package init(_ variables: (String) -> String?) {
        let names = ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"]
        let values = names.map { nonEmpty(variables($0)) }
        let absolute = values.map { value in value.flatMap { $0.hasPrefix("/") ? $0 : nil } }
        home = absolute[0]
        configuration = absolute[1] ?? home.map { $0 + "/.config" }
        cache = absolute[2] ?? home.map { $0 + "/.cache" }
        warnings = names.indices.compactMap { index in
            guard let value = values[index], absolute[index] == nil else { return nil }
            return "\(names[index]) is ignored: '\(value)' is not an absolute path"
        }
    }
}
