package import SIWALifecycle

extension Session {
    /// Mints a client_secret. A signer that is unavailable is asked again within `--timeout`.
    ///
    /// - Throws: ``ClientSecretError``.
    package func mintSecret(
        of client: Client, lasting lifetime: Duration
    ) async throws -> ClientSecret {
        var client = client
        client.secretLifetime = lifetime
        let ending = world.ending
        let clocks = Clocks(
            now: world.clocks.now,
            timekeeper: Timekeeper(
                elapsed: world.clocks.timekeeper.elapsed, sleep: ending.sleep))
        let secrets = ClientSecretCache(client, timekeeper: world.clocks.timekeeper)
        return try await secrets.secret(
            until: Deadline(after: try settings.timeout(), by: world.clocks.timekeeper),
            by: clocks)
    }
}
