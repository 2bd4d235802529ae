internal import JOSE
internal import SIWACrypto

/// What one of Apple's endpoints answers, and why.
struct Answer {
    let page: Page
    /// `error` on the wire; nil when the answer is yes.
    let error: String?
    /// Why, for `GET /emulator/requests`.
    let verdict: String
    /// The refusal that the answer tells, or keeps to itself.
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

    /// Runs an endpoint: a refusal is an answer, and so is a defect of the emulator.
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
