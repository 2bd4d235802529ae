package import SIWAJOSE

/// The moments by which the times of a token are judged. They pass if they pass by this machine's
/// clock or by Apple's, so that neither a wrong clock nor a wrong `Date` of a proxy refuses a
/// genuine token. A pure value.
package struct TokenTimes: Hashable, Sendable {
    /// By this machine's clock.
    package let machine: NumericDate
    /// By Apple's clock, as far as it is known.
    package let apple: [NumericDate]

    /// - Parameter apple: the known times of Apple; nil ones are left out.
    package init(_ machine: NumericDate, apple: NumericDate?...) {
        self.init(machine, apple: apple.compactMap(\.self))
    }

    /// - Parameter apple: the known times of Apple.
    package init(_ machine: NumericDate, apple: [NumericDate]) {
        (self.machine, self.apple) = (machine, apple)
    }

    /// The same times, and another of Apple's.
    package func or(_ other: NumericDate?) -> Self {
        Self(machine, apple: apple + [other].compactMap(\.self))
    }

    /// Verifies a token as of the first moment at which its times pass, otherwise as of this
    /// machine's time.
    ///
    /// - Returns: the verification, and its moment.
    @specialized(where Claims == Notification)
    @specialized(where Claims == IdentityTokenClaims)
    package func judge<Claims>(
        _ verify: (NumericDate) -> Verification<Claims>
    ) -> (verification: Verification<Claims>, moment: NumericDate) {
        let first = verify(machine)
        guard first.failsOnTime else { return (first, machine) }
        for moment in apple {
            let other = verify(moment)
            if !other.failsOnTime { return (other, moment) }
        }
        return (first, machine)
    }
}

extension Verification {
    /// Whether the token is too old, or issued in the future.
    package var failsOnTime: Bool {
        // Reads the checks in place: copying one takes longer than reading it.
        let checks = checks.span
        for index in checks.indices where checks[index].status == .failed {
            if checks[index].subject.isTime { return true }
        }
        return false
    }

    /// Whether the times fail only because of the moment at which they were checked. Missing and
    /// contradictory times pass at no moment.
    ///
    /// - Parameter verify: verifies the token as of another moment.
    package func mayPassAtAnotherTime(_ verify: (NumericDate) -> Self) -> Bool {
        guard failsOnTime, let issuedAt = token?.claims.moment(.iat) else { return false }
        return !verify(issuedAt).failsOnTime
    }
}

extension IdentityTokenVerification {
    /// When the user signed in: the token's `iat`, even if other checks than those of its times
    /// failed. Nil if it cannot be trusted or stored.
    package var signedInAt: NumericDate? {
        guard !failsOnTime, let issuedAt = token?.claims.moment(.iat), issuedAt.isWritable
        else { return nil }
        return issuedAt
    }
}

extension TokenCheck.Subject {
    /// Whether the check depends on the time at which it is made.
    package var isTime: Bool { self == .expiry || self == .issuedAt || self == .notBefore }
}
