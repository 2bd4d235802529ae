internal import SIWAJOSE
internal import SIWALifecycle

/// Why a control request cannot be carried out, for the developer who sent it.
struct ControlError: Error, CustomStringConvertible {
    let status: Int
    let message: String

    init(status: Int = 400, _ message: String) {
        self.status = status
        self.message = message
    }

    var description: String { message }

    var page: Page {
        .json(
            ["error": "invalid_control_request", "error_description": .string(message)],
            status: status)
    }
}
