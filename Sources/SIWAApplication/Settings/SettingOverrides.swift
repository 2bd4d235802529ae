/// Texts that flags give for settings. A list, because a start would create the type of a dictionary
/// (docs/decisions/linking.md), and there are few.
package struct SettingOverrides: Sendable {
    private var texts: [(name: SettingName, text: String)] = []

    /// The text for a setting; nil if no flag gives one.
    package subscript(name: SettingName) -> String? {
        get { texts.first { $0.name == name }?.text }
        set {
            texts.removeAll { $0.name == name }
            if let newValue { texts.append((name, newValue)) }
        }
    }
}
