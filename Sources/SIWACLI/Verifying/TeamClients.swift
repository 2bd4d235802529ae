internal import SIWAApplication

extension Settings {
    /// The clients of all profiles that have the team of the settings, or the team of a profile
    /// whose client is among `clients`.
    func clientsOfTeams(of clients: [String]) -> [String] {
        let profiles = (file?.profiles.values).map { Array($0) } ?? []
        let teams = Set(
            profiles.filter { $0.text(.clientID).map(clients.contains) ?? false }
                .compactMap { $0.text(.teamID) } + [text(.teamID)?.value].compactMap(\.self))
        return profiles.filter { $0.text(.teamID).map(teams.contains) ?? false }
            .compactMap { $0.text(.clientID) }
    }
}
