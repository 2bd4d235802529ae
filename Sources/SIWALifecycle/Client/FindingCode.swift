/// Every cause that siwa knows, the most frequent first within each group
/// (docs/invalid-client.md has a line for each).
package enum FindingCode: String, Sendable, CaseIterable {
    /// Apple accepts another combination of keys and ids on this machine, which is the surest
    /// finding.
    case otherAccepted = "other_accepted"

    // Something else in place of the client_secret.

    /// The `.p8` itself.
    case privateKeyPasted = "private_key_pasted"
    /// A token, a code, or another API's JWT.
    case wrongTokenPasted = "wrong_token_pasted"
    /// Not a JWT, or only a part of one.
    case malformed
    /// Quotation marks, spaces, line ends or `Bearer` around or in it.
    case wrapped
    /// Padding, or base64 in place of base64url.
    case notBase64URL = "not_base64url"

    // Times.

    /// This machine's clock is ahead of Apple's.
    case clockAhead = "clock_ahead"
    /// This machine's clock is behind Apple's by more than a secret's lifetime.
    case clockBehind = "clock_behind"
    /// `exp` has passed.
    case expired
    /// A time in milliseconds.
    case milliseconds
    /// `exp` is more than six months ahead.
    case tooLong = "too_long"
    /// `iat` or `nbf` is in the future.
    case notYetValid = "not_yet_valid"
    /// A time that is a string, or anything else but a number.
    case timeType = "time_type"
    /// A time with a fraction: some libraries write it, and no refusal is known.
    case timeFraction = "time_fraction"

    // The signature.

    /// ASN.1 DER in place of r||s.
    case derSignature = "der_signature"
    /// Signed by another key than expected.
    case wrongKey = "wrong_key"
    /// No signature at all.
    case unsigned
    /// Not as long as an ES256 signature.
    case signatureLength = "signature_length"
    /// `alg` is not ES256.
    case wrongAlgorithm = "wrong_algorithm"

    // Names.

    /// Key ID and Team ID are swapped.
    case keyAndTeamSwapped = "key_and_team_swapped"
    /// `iss` and `sub` are swapped.
    case issuerAndSubjectSwapped = "issuer_and_subject_swapped"
    /// A required member is missing.
    case missingMember = "missing_member"
    /// `kid` is another key's.
    case wrongKeyID = "wrong_key_id"
    /// `iss` is another team.
    case wrongTeam = "wrong_team"
    /// The client id is prefixed with the Team ID.
    case teamIDPrefix = "team_id_prefix"
    /// `sub` is another client.
    case wrongClient = "wrong_client"
    /// `aud` is not Apple's.
    case wrongAudience = "wrong_audience"
    /// `aud` is an array with one element: many libraries send it, and it causes no refusal.
    case audienceArray = "audience_array"
    /// An identifier in small letters.
    case lowerCase = "lower_case"
    /// Spaces around an identifier.
    case blanks
    /// An identifier of the wrong length or shape.
    case malformedID = "malformed_id"
    /// `iss` of a token that should be Apple's is not.
    case wrongIssuer = "wrong_issuer"

    // The client's surroundings.

    /// The key file is named for another Key ID.
    case keyFileName = "key_file_name"
    /// Another key file fits better.
    case otherKeyFile = "other_key_file"
    /// Another profile has the same key under another team.
    case profilesDisagree = "profiles_disagree"
    /// The secret is valid, but the request is not.
    case requestForm = "request_form"
    /// No cause is visible on this machine: key, client or team differ from those registered at
    /// Apple.
    case unknownToApple = "unknown_to_apple"
}
