internal import SIWAJOSE

/// A request about one user during a transfer from one team to another (Apple: "Transferring your
/// apps and users to another team", "Bringing new apps and users into your team").
package enum MigrationRequest: Sendable {
    /// The old team's half: requests the user's transfer identifier for `target`.
    case export(UserID, to: TeamID)
    /// The new team's half: requests the user's new id.
    case admission(TransferID)

    /// The HTTP request: the client_secret is in its body, the bearer token in its header.
    package func carrying(_ form: Form, bearer: SecretText?, to baseURL: BaseURL) -> HTTPRequest {
        HTTPRequest(
            method: .post, url: baseURL.url(of: .userMigration),
            fields: formFields
                + (bearer.map { [HTTPField("Authorization", "Bearer \($0.revealed())")] } ?? []),
            body: form.encoded(), secrets: form.secrets + (bearer.map { [$0] } ?? []))
    }

    var kind: RequestKind {
        switch self {
        case .export: .migrationExport
        case .admission: .migrationImport
        }
    }

    /// The form of the request.
    package func form(clientID: ClientID, clientSecret: SecretText) -> Form {
        form(of: ClientParameters(clientID, clientSecret))
    }

    func form(of client: ClientParameters) -> Form { Form(of: client, ownParameters) }

    private var ownParameters: [Form.Parameter] {
        switch self {
        case .export(let userID, let team):
            [.init("sub", .plain(userID.rawValue)), .init("target", .plain(team.rawValue))]
        case .admission(let transferID): [.init("transfer_sub", .plain(transferID.rawValue))]
        }
    }
}

/// Apple's answer about a user of a migration.
package struct MigratedUser: Hashable, Sendable {
    /// The user's id with the requesting team: the old id in an export, the new id in an import.
    package let userID: UserID
    /// The user's identifier during the transfer, the same in every answer.
    package let transferID: TransferID
    /// The relay address with the new team; only for a user who had one with the old team.
    package let email: String?
    /// Whether that address is a relay.
    package let isPrivateEmail: Bool?
    /// Apple's id of the request; nil if Apple sent none.
    package var requestID: String?
}

extension MigratedUser {
    /// Reads an answer; nil if it is not an answer to such a request.
    init?(_ response: HTTPResponse, to request: MigrationRequest) {
        self.init(response.body, to: request)
        requestID = response.requestID
    }

    /// Reads the body of an answer; nil if it is not an answer to such a request.
    init?(_ body: [UInt8], to request: MigrationRequest) {
        guard let json = try? JSON(body) else { return nil }
        switch request {
        case .export(let userID, _):
            guard let name = json["transfer_sub"]?.string, !name.isEmpty else { return nil }
            self.init(
                userID: userID, transferID: TransferID(unchecked: name), email: nil,
                isPrivateEmail: nil)
        case .admission(let transferID):
            guard let name = json["sub"]?.string, !name.isEmpty else { return nil }
            self.init(
                userID: UserID(unchecked: name), transferID: transferID,
                email: json["email"]?.string, isPrivateEmail: json["is_private_email"]?.flag)
        }
    }
}
