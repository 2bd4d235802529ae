package import SIWAJOSE
package import SIWALifecycle
internal import SIWAVaultRecords

/// A request to revoke (`POST /v1/revoke`), which waits for one or more jobs.
package struct RevocationRequest: Hashable, Sendable {
    /// Its id, which the caller polls: 32 hexadecimal digits.
    package let id: String
    /// The client that the caller named; nil for all.
    package let clientID: ClientID?
    /// The user that the caller named; nil for a token or a code.
    package let userID: UserID?
    /// When it was received.
    package let requestedAt: NumericDate

    /// Creates a request.
    package init(id: String, clientID: ClientID?, userID: UserID?, requestedAt: NumericDate) {
        (self.id, self.clientID, self.userID) = (id, clientID, userID)
        self.requestedAt = requestedAt
    }
}

/// A request and its state.
package struct RevocationStatus: Hashable, Sendable {
    /// What was requested, and when.
    package let request: RevocationRequest
    /// `pending` while one of its jobs is pending.
    package let state: RevocationJob.State
    /// When the last job ended; nil while one is pending.
    package let endedAt: NumericDate?
    /// Its jobs, in their order.
    package let jobs: [RevocationJob]

    /// Creates a request.
    package init(
        _ request: RevocationRequest, state: RevocationJob.State, endedAt: NumericDate?,
        jobs: [RevocationJob]
    ) {
        (self.request, self.state, self.endedAt, self.jobs) = (request, state, endedAt, jobs)
    }
}

extension RevocationJob.State {
    /// The state of a request that waits for jobs in these states.
    package static func of(_ states: [Self]) -> Self {
        for state in [Self.pending, .dead, .unknown] where states.contains(state) { return state }
        return .revoked
    }
}

/// Which requests are listed.
package struct RevocationFilter: Hashable, Sendable {
    /// Requests in these states; all requests if empty.
    package var states: [RevocationJob.State]
    /// Requests that name this user.
    package var userID: UserID?

    /// Creates a filter; every request passes unless limited.
    package init(states: [RevocationJob.State] = [], userID: UserID? = nil) {
        (self.states, self.userID) = (states, userID)
    }
}

/// A page of requests, the newest first, and the damaged rows among them.
package struct RevocationPage: Hashable, Sendable {
    /// The readable requests.
    package var revocations: [RevocationStatus] = []
    /// The errors of unreadable rows.
    package var damaged: [StoreError] = []
    /// The number of the last row; nil if the page is empty.
    package var next: Int?

    /// An empty page.
    package init() {}
}

/// Claimed jobs.
package struct DueRevocations: Sendable {
    /// The jobs, each with the time since it was requested, by the database's clock.
    package var jobs: [(job: RevocationJob, age: Duration)] = []
    /// The errors of unreadable rows; they are not attempted.
    package var damaged: [StoreError] = []

    /// No jobs.
    package init() {}
}
