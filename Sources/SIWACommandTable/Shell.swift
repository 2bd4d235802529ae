/// The shells with completions.
package enum Shell: String, CaseIterable, ParameterValue {
    /// GNU Bash, 4.3 or newer.
    case bash

    /// Z shell, with its completion system loaded.
    case zsh

    /// fish, 3 or newer.
    case fish
}
