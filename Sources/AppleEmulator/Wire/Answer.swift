internal import SIWACrypto
internal import SignInWithApple

/// What one of Apple's endpoints answers, and why.
struct Answer {
    let page: Page
    /// `error` on the wire; nil when the answer is yes.
    let error: String?
    /// Why, for `GET /emulator/requests`.
    let verdict: String
    /// The check that failed, if one did; revoke answers 200 even then.
    let failure: RequestCheck?

    init(_ page: Page, because verdict: String) {
        self.page = page
        error = nil
        self.verdict = verdict
        failure = nil
    }

    /// Answers with an error, or as if nothing had happened, because a check failed.
    init(_ page: Page, error: String? = nil, _ preface: String = "", failing check: RequestCheck) {
        self.page = page
        self.error = error
        verdict = preface + check.line
        failure = check
    }

    /// Every OAuth error is a 400 with JSON, `invalid_client` too.
    init(_ refusal: Refusal) {
        let description = refusal.description.map {
            [JSON.Member("error_description", .string($0))]
        }
        let error = JSON.Member("error", .string(refusal.code.rawValue))
        self.init(
            .json(.object([error] + (description ?? [])), status: 400),
            error: refusal.code.rawValue, failing: refusal.check)
    }

    /// Runs an endpoint: a refusal is an answer, and so is a defect of the emulator.
    init(of endpoint: () throws -> Answer) {
        do {
            self = try endpoint()
        } catch let refusal as Refusal {
            self.init(refusal)
        } catch {
            self.init(
                .edge(status: 500),
                failing: RequestCheck(failed: "the emulator itself failed", "\(error)"))
        }
    }
}
