import SignInWithApple

/// What the application has: the private key, and the vault's keys.
let pem = ""
let keys = ""

/// A queue of the application's, for tokens that cannot be stored now.
func storeLater(_ signIn: SignIn) async {}
