/// Which tables are measured.
struct TableChoice {
    /// Nil for all.
    private let name: String?

    /// The names of tables, and how each is made from what it needs.
    private typealias Tables<Material> = KeyValuePairs<
        String, @Sendable (Material) throws -> Benchmark
    >

    private static let single: Tables<Fixture> = [
        "verify": Benchmark.verify, "mint": Benchmark.mint, "secret": Benchmark.secret,
        "verify-one": Benchmark.verifyOne,
    ]
    private static let ofServer: Tables<ServerMaterial> = [
        "notifications": Benchmark.notifications, "verify-requests": Benchmark.verifyRequests,
    ]
    private static let ofRequests: Tables<Fixture> = [
        "refresh": Benchmark.refresh, "revoke": Benchmark.revoke,
    ]
    private static let syncs = "syncs"

    /// - Parameter name: the name of a table; nil for all.
    init(named name: String?) throws {
        self.name = name
        let known =
            Self.single.map(\.key) + Self.ofServer.map(\.key) + [Self.syncs]
            + Self.ofRequests.map(\.key)
        if let name, !known.contains(name) {
            throw BenchmarkError("TABLE is one of \(known.joined(separator: ", "))")
        }
    }

    /// Measures them one after the other.
    func measure(_ fixture: Fixture, rounds: Int) throws -> [ResultTable] {
        var tables = try measure(Self.single, fixture, rounds)
        if isWanted(Self.syncs) || Self.ofServer.contains(where: { isWanted($0.key) }) {
            let material = try ServerMaterial(fixture)
            tables += try measure(Self.ofServer, material, rounds)
            if isWanted(Self.syncs) { try SyncCount.measure(material) }
        }
        guard Self.ofRequests.contains(where: { isWanted($0.key) }) else { return tables }
        guard let program = Server.program else {
            print("\nskipped: requests, because nginx or its echo module is not installed")
            return tables
        }
        let server = try Server(fixture, program)
        defer { server.stop() }
        return tables + (try measure(Self.ofRequests, fixture, rounds))
    }

    private func measure<Material>(
        _ tables: Tables<Material>, _ material: Material, _ rounds: Int
    ) throws -> [ResultTable] {
        try tables.filter { isWanted($0.key) }.map { try $0.value(material).run(rounds: rounds) }
    }

    private func isWanted(_ table: String) -> Bool { name == nil || name == table }
}
