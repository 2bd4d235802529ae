/// What the application has: the private key, and the vault's keys.
let pem = ""
let keys = ""
