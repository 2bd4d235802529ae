// swift-format-ignore-file
import SignInWithApple
import SignInWithAppleCurl

let apple = try SignInWithAppleClient(
    teamID: "A1B2C3D4E5", clientID: "com.example.app",
    key: ClientSecretKey(pem: pem, id: "K1L2M3N4P5"),   // in every shape that siwa accepts
    transport: try CurlTransport(authorityFile: nil),   // a file of extra authorities
    baseURL: "https://appleid.apple.com")               // the default

let signIn = try await apple.exchange(code, nonce: nonce)     // code: a String; verified: throws if the identity token is not Apple's and ours
signIn.userID; signIn.refreshToken; signIn.claims.email; signIn.claims.isPrivateEmail

try await apple.refresh(token)
let proof = try await apple.revoke(token, proof: .beforeAndAfter)     // proof.evidence == .refreshAcceptedThenRejected
let claims = try await apple.verify(identityToken, nonce: nonce)      // keys fetched and cached by an actor
let event = try await apple.notification(body)
let secret = try await apple.clientSecret(lifetime: .seconds(300))
