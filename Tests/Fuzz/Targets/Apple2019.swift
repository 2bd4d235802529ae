internal import SIWACrypto
internal import SIWAJOSE
internal import SIWASystem

/// What Apple signed in 2019 and 2022, and with which keys: the vectors of SignInWithAppleTests.
enum Apple2019 {
    static let keySetFile = vector("jwks-2019-2022.json")
    static let keySet = KeySet(keySetFile)
    static let tokens = [
        vector("identity-token-2019-06.jwt"), vector("notification-2022-07.jwt"),
    ].map { $0.filter { $0 > 0x20 } }
    static let audiences = ["jp.yauth.signin.service2", "jp.yauth.signin.app"]
    static let identityTokenTime = NumericDate(1_559_709_300)
    static let notificationTime = NumericDate(1_657_617_100)

    private static func vector(_ name: String) -> [UInt8] {
        let tests = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let path = "/\(tests)/SignInWithAppleTests/Vectors/\(name)"
        do {
            return try readFile(path).contents.revealed()
        } catch {
            fatalError("there is no vector \(path): \(error)")
        }
    }
}
