internal import SIWAJOSE
internal import SIWALifecycle

/// The faults in `iss`, `sub` and `aud` of a client_secret.
struct NameFindings {
    private let header: JSON
    private let claims: JSON
    private let expected: ExpectedClient

    init(_ jws: CompactJWS, _ expected: ExpectedClient) {
        (header, claims, self.expected) = (jws.header, jws.payload, expected)
    }

    var all: [Finding] { (swapped.map { [$0] } ?? issuer + subject) + audience }

    private var swapped: Finding? {
        guard let issuer = claims["iss"]?.string else { return nil }
        let kid = header["kid"]?.string
        if isClientID(issuer), let sub = claims["sub"]?.string, TeamID.fault(in: sub) == nil {
            return Finding(
                .issuerAndSubjectSwapped, seen: "iss is \(quoted(issuer)), sub is \(quoted(sub))",
                advice: "exchange them: iss is the Team ID, sub is the client id")
        }
        let isKeyID = expected.keyID?.rawValue == issuer && expected.teamID?.rawValue != issuer
        let isTeamID = kid != nil && expected.teamID?.rawValue == kid
        guard isKeyID || isTeamID || kid == issuer else { return nil }
        return Finding(
            .keyAndTeamSwapped, seen: "iss is \(quoted(issuer)), kid is \(quoted(kid ?? ""))",
            advice: "set iss to the Team ID and kid to the Key ID")
    }

    private var issuer: [Finding] {
        guard let issuer = claims["iss"]?.string else { return [missing("iss", "the Team ID")] }
        if isClientID(issuer) {
            return [
                Finding(
                    .wrongTeam, seen: "iss is \(quoted(issuer)), a client id",
                    advice: "set iss to the Team ID; the client id belongs into sub")
            ]
        }
        if let finding = ShapeFinding(of: issuer, in: "iss (Team ID)", as: TeamID.self) {
            return [finding.it]
        }
        guard let teamID = expected.teamID, !teamID.rawValue.isExactly(issuer) else { return [] }
        return [
            Finding(
                .wrongTeam, .error, .likely, seen: "iss is \(quoted(issuer)), not \(teamID)",
                advice: "set iss to the Team ID of the team that the key belongs to")
        ]
    }

    private var subject: [Finding] {
        guard let subject = claims["sub"]?.string else { return [missing("sub", "the client id")] }
        let team = claims["iss"]?.string ?? expected.teamID?.rawValue ?? ""
        if !team.isEmpty, subject.hasPrefix(team + ".") {
            return [
                Finding(
                    .teamIDPrefix, seen: "sub (client id) is \(quoted(subject))",
                    advice: "leave the Team ID out: \(subject.dropFirst(team.count + 1))")
            ]
        }
        if subject.contains(where: { $0.isWhitespace || "\"'".contains($0) }) {
            return [
                Finding(
                    .blanks, seen: "sub contains spaces or quotation marks",
                    advice: "write the client id alone")
            ]
        }
        guard let clientID = expected.clientID, !clientID.rawValue.isExactly(subject) else {
            return subject.isEmpty || TeamID.fault(in: subject) == nil ? [noClient(subject)] : []
        }
        return [another(subject, clientID)]
    }

    private func noClient(_ subject: String) -> Finding {
        Finding(
            .wrongClient, .error, subject == claims["iss"]?.string ? .certain : .likely,
            seen: "sub is \(quoted(subject)), which looks like no client id",
            advice: "set sub to the App ID or Services ID that client_id names")
    }

    private func another(_ subject: String, _ clientID: ClientID) -> Finding {
        if let place = expected.place(of: subject) {
            return Finding(
                .wrongClient, .error, .likely, seen: "sub is \(quoted(subject)), not \(clientID)",
                advice: "\(place) has this client id: use it, or mint a secret for \(clientID)")
        }
        let isCase = subject.lowercased() == clientID.rawValue.lowercased()
        return Finding(
            .wrongClient, .error, .likely, seen: "sub is \(quoted(subject)), not \(clientID)",
            advice: isCase
                ? "write it as Apple's portal does: small letters and capitals differ"
                : """
                sub must be what client_id says: the App ID (bundle id) for codes from an app, \
                the Services ID for codes from the web
                """)
    }

    private var audience: [Finding] {
        guard let audience = claims["aud"] else { return [missing("aud", ClientSecret.audience)] }
        guard audience.string?.isExactly(ClientSecret.audience) != true else { return [] }
        guard audience.elements != [.string(ClientSecret.audience)] else { return [Self.array] }
        let found = audience.string.map(quoted) ?? audience.kind
        let whose = audience.string.flatMap { Self.otherAudiences[$0] }.map { ", \($0)" } ?? ""
        return [
            Finding(
                .wrongAudience, seen: "aud is \(found)\(whose)",
                advice: "set aud to the text \(ClientSecret.audience), without a path")
        ]
    }

    /// It is not recorded whether Apple accepts it, but libraries that always send it are in
    /// production.
    private static let array = Finding(
        .audienceArray, .note, .possible, seen: "aud is an array of one",
        advice: "no change is needed: software in production sends it so")

    private static let otherAudiences = [
        "appstoreconnect-v1": "App Store Connect's",
        "https://account.apple.com/auth/oauth2/v2/token": "Apple Business Manager's",
        "https://account.apple.com": "which Apple's documents named by mistake in June 2025",
    ]

    private func missing(_ name: String, _ what: String) -> Finding {
        let kind = claims[name]?.kind
        return Finding(
            .missingMember, seen: kind.map { "\(name) is \($0)" } ?? "\(name) is missing",
            advice: "add \(name), a text: \(what)")
    }

    /// Whether it looks like a reverse domain name, which has dots, and not like a URL, which has
    /// slashes.
    private func isClientID(_ text: String) -> Bool {
        text.utf8.contains(UInt8(ascii: ".")) && !text.utf8.contains(UInt8(ascii: "/"))
    }
}
