/// An operation of the vault failed.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    package enum Kind: String, Hashable, Sendable {
        /// There is no vault at that place.
        case notInitialized
        /// The vault has no tables of siwa-server.
        case serverNotInitialized
        /// There is a vault already.
        case alreadyInitialized
        /// Made by a newer siwa.
        case tooNew
        /// Made by a siwa from before the first release, whose tables no siwa migrates.
        case tooOld
        /// A running siwa-server uses the vault.
        case inUse
        /// The vault is being moved to another database, and cannot be changed.
        case moving
        /// The vault was moved to another database, and cannot be changed.
        case moved
        /// The vault is an incomplete copy of another one.
        case copyIncomplete
        /// The database cannot be used: because of its URL, folder, permissions or login.
        case unusable
        /// The database's library is not installed.
        case unavailable
        /// Another process kept the database locked for too long.
        case busy
        /// The disk is full, or a limit of the process or the system is reached.
        case full
        /// The server is a standby, or refuses changes.
        case readOnly
        /// The server did not prove its identity, or does not encrypt the connection.
        case untrusted
        /// The server does not answer, or closed the connection.
        case unreachable
        /// The database is broken.
        case damaged
        /// A key is missing, malformed or not the expected one.
        case key
        /// Another process registered a newer key, with which all tokens must be encrypted.
        case keySuperseded
        /// A record cannot be decrypted: it was changed, or belongs elsewhere.
        case sealBroken
        /// A token cannot be one of Apple's, and is not stored.
        case tokenInvalid
        /// A row of the database cannot be a record: a value is out of range or not UTF-8.
        case recordDamaged
    }

    /// What went wrong.
    package let kind: Kind
    /// What happened, as a sentence without a full stop. It names a record by client, user and
    /// fingerprint, never by its token.
    package let message: String
    /// What to do, if it does not follow from the kind: for example the limit to raise.
    package let remedy: String?
    /// The user id in the message, as it stands there: not every log may show it. Nil without one.
    package let userID: String?

    /// The message.
    package var description: String { message }

    /// Creates an error.
    ///
    /// - Parameter userID: the user id in the message; nil without one.
    package init(
        _ kind: Kind, _ message: String, remedy: String? = nil, naming userID: String? = nil
    ) {
        (self.kind, self.message, self.remedy) = (kind, message, remedy)
        self.userID = userID
    }

    /// What to do if the database lacks the entry of a key that the key file has.
    package static let unknownKeyRemedy =
        "run 'siwa vault rekey': it enters the newest key of the key file again"

    /// Whether the same call may succeed later.
    package var isTemporary: Bool {
        [.busy, .full, .readOnly, .unreachable, .keySuperseded, .moving].contains(kind)
    }

    /// Whether only one record cannot be read or decrypted.
    package var isAboutRecord: Bool {
        [.sealBroken, .key, .recordDamaged, .tokenInvalid].contains(kind)
    }
}
