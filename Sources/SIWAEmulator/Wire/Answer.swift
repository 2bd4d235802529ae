internal import SIWACrypto
internal import SIWAJOSE

/// The answer of one of Apple's endpoints, and its reason.
struct Answer {
    let page: Page
    /// `error` on the wire; nil for success.
    let error: String?
    /// Why, for `GET /emulator/requests`.
    let verdict: String
    /// The refusal, even if the answer does not reveal it.
    var refusal: Refusal?

    init(_ page: Page, error: String? = nil, because verdict: String) {
        self.page = page
        self.error = error
        self.verdict = verdict
    }

    /// Every OAuth error is a 400 with JSON, `invalid_client` too.
    init(_ refusal: Refusal) {
        let description = refusal.description.map {
            [JSON.Member("error_description", .string($0))]
        }
        let error = JSON.Member("error", .string(refusal.code.rawValue))
        self.init(.json(.object([error] + (description ?? [])), status: 400), refusal)
    }

    /// A refusal on a page of its own.
    init(_ page: Page, _ refusal: Refusal) {
        self.init(page, error: refusal.code.rawValue, because: refusal.verdict)
        self.refusal = refusal
    }

    /// Runs an endpoint; converts a refusal, or a defect of the emulator, to an answer.
    init(of endpoint: () throws -> Answer) {
        do {
            self = try endpoint()
        } catch let refusal as Refusal {
            self.init(refusal)
        } catch {
            self.init(.edge(status: 500), because: "the emulator itself failed: \(error)")
        }
    }
}
