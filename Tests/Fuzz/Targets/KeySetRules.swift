internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

/// Every key has a `kid` and at least 2048 bits; a set that was read can be stored and read again.
func checkKeySet(_ input: [UInt8]) throws(Violation) {
    if let cache = KeySetCache(input, for: .apple) {
        let file = cache.bytes(for: .apple)
        try demand(
            KeySetCache(file, for: .apple)?.bytes(for: .apple) == file,
            "a cache reads as it was written")
    }
    guard let keySet = KeySet(input) else { return }
    try demand(!keySet.keys.isEmpty, "an empty set is not accepted")
    for named in keySet.keys {
        try demand(!named.id.isEmpty, "every key has a name")
        try demand((2048...16_384).contains(named.key.bits), "every key has 2048 to 16384 bits")
        try demand(keySet[named.id] == named.key, "a key is found by its name")
        try demand(
            !keySet.ignored.contains { $0.reason == .ambiguous && $0.keyID == named.id },
            "a name that two keys share is no key's")
    }
    let elements = keySet.document["keys"]?.elements?.count ?? 0
    try demand(keySet.keys.count <= elements, "no key comes from nowhere")
    let again = KeySet(keySet.document.bytes)
    try demand(again?.keys == keySet.keys, "a set reads as it was written")
    try demand(again?.ignored == keySet.ignored, "what is ignored stays so")
}
