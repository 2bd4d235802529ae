package import SIWACrypto

/// A line of input, without its end.
package struct InputLine: Sendable {
    /// Its number, from 1.
    package let number: Int
    /// Its bytes, treated as a secret; nil if the line is too long.
    package let bytes: SecretBytes?
}
