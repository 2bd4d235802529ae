internal import SIWACrypto
internal import SignInWithApple

/// The request log of an emulator in another process.
struct RemoteLog {
    let url: String
    let network: Network

    private static let patience = Duration.seconds(10)
    /// How long the emulator holds its answer while nothing comes.
    private static let wait = 10
    /// So many records, with their checks, stay under what the transport reads.
    private static let page = 100

    /// Shows the latest `count` records; answers the number of the last record there is.
    func latest(_ count: Int, _ path: String?, _ show: (JSON) throws -> Void) async throws -> Int {
        var (last, kept) = (0, [JSON]())
        while true {
            let records = try await ask("after=\(last)&limit=\(Self.page)", path)
            guard let newest = records.last?["number"]?.integer else { break }
            last = newest
            kept = (kept + records).suffix(count)
        }
        for record in kept { try show(record) }
        return last
    }

    /// Waits for records behind the one of that number, shows them, and answers the last number.
    func following(
        _ last: Int, _ path: String?, _ show: (JSON) throws -> Void
    ) async throws -> Int {
        let records = try await ask("after=\(last)&limit=\(Self.page)&wait=\(Self.wait)s", path)
        for record in records { try show(record) }
        return records.last?["number"]?.integer ?? last
    }

    private func ask(_ query: String, _ path: String?) async throws -> [JSON] {
        let filter = path.map { path in
            let encoded = Form([("path", .plain(path))]).encoded().revealed()
            return "&" + String(decoding: encoded, as: UTF8.self)
        }
        let request = HTTPRequest(
            method: .get, url: "\(url)/emulator/requests?\(query)\(filter ?? "")")
        let response: HTTPResponse
        do throws(TransportError) {
            let limit = Self.patience + .seconds(Self.wait)
            response = try await network.send(request, timeout: limit)
        } catch {
            throw Failure(
                code: "temporary", message: "no emulator answers at \(url): \(error.message)",
                hints: ["start it: siwa-emulator serve DIR", "or name another with --url"],
                exitCode: .temporary)
        }
        guard response.status == 200,
            let records = (try? JSON(response.body))?["requests"]?.elements
        else {
            throw Failure(
                code: "temporary",
                message: "\(url) answered with status \(response.status) and no log",
                hints: ["check that siwa-emulator listens there"], exitCode: .temporary)
        }
        return records
    }
}
