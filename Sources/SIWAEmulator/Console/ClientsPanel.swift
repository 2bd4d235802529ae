internal import SIWAJOSE
internal import SIWALifecycle

/// The clients, the team's keys, and the keys with which the emulator signs.
enum ClientsPanel {
    static func html(_ state: ConsoleState) -> HTML {
        let configuration = state.configuration
        return """
            <h3>Clients of team \(state.service.owner.teamID.rawValue)</h3>
            <ul class="lines">\(configuration.clients.prefix(20).map(client))</ul>
            <h3>Keys for client secrets</h3>
            <ul class="lines">\(configuration.teams.flatMap { team in
                team.keys.map { key($0, of: team, state) } })</ul>
            <h3>Keys of identity tokens</h3>
            <ul class="lines">\(state.service.keys.entries.map { signing($0, state) })</ul>
            """
    }

    private static func client(_ client: EmulatedClient) -> HTML {
        let uris = client.redirectURIs.prefix(5).map { uri -> HTML in
            "<span class=\"mono caption\">\(uri)</span>"
        }
        return """
            <li><span>\(client.clientID.rawValue) <span class="badge">\(client.kind.rawValue)</span>\
            \(uris.isEmpty ? "" : "<br>" as HTML)\(uris)</span></li>
            """
    }

    private static func key(
        _ key: EmulatedKey, of team: EmulatedTeam, _ state: ConsoleState
    ) -> HTML {
        let isRevoked = state.service.revokedKeys.contains(key.keyID)
        let revoke = ConsoleButton(
            label: "Revoke", control: .keysRevoke, body: ["key_id": key.keyID.json],
            style: "quiet", object: "key \(key.keyID)")
        return """
            <li><span><span class="mono">\(key.keyID.rawValue)</span> \
            <span class="caption">team \(team.teamID.rawValue)</span> \
            \(isRevoked ? #"<span class="badge error">revoked</span>"# as HTML : "")</span>\
            \(isRevoked ? "" : revoke.html(state))</li>
            """
    }

    private static func signing(_ entry: EmulatorKeys.Entry, _ state: ConsoleState) -> HTML {
        let signs = entry.keyID == state.service.keys.signing.keyID
        return """
            <li><span><span class="mono">\(entry.keyID)</span> \
            <span class="caption">RSA, published</span> \
            \(signs ? #"<span class="badge ok">signs</span>"# as HTML : "")</span></li>
            """
    }

    static func form(_ state: ConsoleState) -> HTML {
        let add = ConsoleButton(label: "Rotate", control: .keysRotate, body: [:])
        let one = ConsoleButton(
            label: "Rotate and withdraw the rest", control: .keysRotate, body: ["keys": 1])
        return #"<div class="buttons">\#(add.html(state))\#(one.html(state))</div>"#
    }
}
