internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// The request log of an emulator in another process.
struct RemoteLog {
    let transport: FolderTransport
    /// Only requests to this path; nil means any.
    let path: String?

    /// The position in the log.
    struct Position {
        /// The start or reset of the emulator from which requests are counted.
        var instance = ""
        /// The number of the last request read.
        var last = 0
    }

    private struct Answer {
        let instance: String
        let records: [JSON]
    }

    private static let timeout = Duration.seconds(10)
    /// The number of seconds that the emulator waits for a request before it answers.
    private static let wait = 10
    private static let pageSize = 100

    /// Shows the latest `count` records, and returns the end of the log.
    func latest(
        _ count: Int, at url: String, _ show: (JSON) throws -> Void
    ) async throws -> Position {
        var (position, kept) = (Position(), [JSON]())
        do {
            while true {
                let answer = try await ask(url, "after=\(position.last)")
                position.instance = answer.instance
                kept = (kept + answer.records).suffix(count)
                guard let last = answer.records.last?["number"]?.integer else { break }
                position.last = last
            }
        } catch let error as TransportError {
            throw Failure(
                code: "temporary", message: "no emulator answers at \(url): \(error.message)",
                hints: ["start it: siwa-emulator serve DIR", "or name another one with --url"],
                exitCode: .temporary)
        }
        for record in kept { try show(record) }
        return position
    }

    /// Waits for new records, shows them, and returns the end of the log; nil if the emulator does
    /// not respond.
    func next(
        after position: Position, at url: String, _ show: (JSON) throws -> Void
    ) async throws -> Position? {
        let query = "after=\(position.last)&wait=\(Self.wait)s"
        let answer: Answer
        do {
            answer = try await ask(url, query)
        } catch is TransportError {
            return nil
        }
        guard answer.instance == position.instance else {
            // The emulator was restarted or reset, and counts requests from 1 again.
            return Position(instance: answer.instance)
        }
        for record in answer.records { try show(record) }
        let last = answer.records.last?["number"]?.integer ?? position.last
        return Position(instance: answer.instance, last: last)
    }

    /// - Throws: `TransportError` if the emulator does not respond, `Failure` if another program
    ///   does.
    private func ask(_ url: String, _ query: String) async throws -> Answer {
        let filter = path.map { path in
            let encoded = Form([("path", .plain(path))]).encoded().revealed()
            return "&" + String(decoding: encoded, as: UTF8.self)
        }
        let request = HTTPRequest(
            method: .get,
            url: "\(url)/emulator/requests?limit=\(Self.pageSize)&\(query)\(filter ?? "")")
        let limit = Self.timeout + .seconds(Self.wait)
        let response = try await transport.send(request, timeout: limit)
        guard response.status == 200, let body = try? JSON(response.body),
            let records = body["requests"]?.elements
        else {
            throw Failure(
                code: "temporary",
                message: "\(url) answered with status \(response.status) and no log",
                hints: ["check that siwa-emulator listens there"], exitCode: .temporary)
        }
        return Answer(instance: body["instance"]?.string ?? "", records: records)
    }
}
