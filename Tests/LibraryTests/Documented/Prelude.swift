// What the documentation's code assumes: the things that a service has.
import AsyncHTTPClient
import Crypto
import Foundation
import SignInWithApple
import SignInWithAppleCurl
import SignInWithAppleEmulator
import SignInWithAppleVault

func given<Value>() -> Value { fatalError() }

let apple: SignInWithAppleClient = given()
let web: SignInWithAppleClient = given()
let vault: TokenVault = given()
let emulator: InProcessApple = given()
let transport: any Transport = given()
let key: ClientSecretKey = given()
let claims: IdentityClaims = given()
let begun: WebSignIn = given()
let privateKey: P256.Signing.PrivateKey = given()
let (pem, keys, url, publicKeyPEM, keySet): (String, String, String, String, String) = given()
let (code, token, identityToken, body): (String, String, String, String) = given()
let nonce: String? = given()
let now = Date()

struct BrowserSession: Sendable {
    var signIn: WebSignIn?
    var userID: String?
}
nonisolated(unsafe) var session = BrowserSession()

func redirect(to url: String) {}
func signOut(_ userID: String) {}
func log(_ text: String) {}
func storeLater(_ signIn: SignIn) async {}
func revokeLater(_ token: String) async {}

struct Answer: Error {
    enum Status { case badGateway, serviceUnavailable }
    init(_ status: Status, _ text: String, after wait: Duration? = nil) {}
}

struct Redis: Sendable {
    func get(_ key: String) async throws -> String? { nil }
    func set(_ key: String, _ value: String) async throws {}
}
let redis = Redis()

struct Database: Sendable {
    func store(_ token: String?, of userID: String, client: String) async throws {}
}
let database = Database()

struct MyTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse { given() }
}
struct OwnHTTPClient: Sendable {
    struct Answer: Sendable {
        let (status, headers, body): (Int, [(name: String, value: String)], [UInt8])
    }
    func execute(
        _ method: String, _ url: String, _ headers: [(name: String, value: String)],
        _ body: [UInt8], timeout: Duration
    ) async throws -> Answer { given() }
}
let http = OwnHTTPClient()
let client = HTTPClient()
