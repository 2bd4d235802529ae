internal import SIWAApplication
internal import SIWALifecycle
internal import SIWAServerRecords

// Errors of services and of the database as problems.
extension ServerContext {
    /// Calls a service, and converts its errors to problems.
    func call<Value>(
        _ body: () async throws(Diagnosis) -> Value
    ) async throws(Problem) -> Value {
        do throws(Diagnosis) {
            return try await body()
        } catch {
            throw Problem(error)
        }
    }

    /// Reads the database, and converts its errors to problems.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (ServerStore) throws(StoreError) -> Value
    ) async throws(Problem) -> Value {
        do throws(StoreError) {
            return try await access.run(body)
        } catch {
            throw Problem(Diagnosis(error))
        }
    }
}
