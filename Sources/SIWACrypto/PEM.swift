internal import COpenSSL

/// What `write` writes to a memory BIO; the BIO's own copy is cleansed with it.
func pem(_ write: (OpaquePointer) -> CInt) throws(OpenSSLError) -> SecretBytes {
    let bio = try Owned<MemoryBIO>(BIO_new(BIO_s_secmem()))
    try check(write(bio.pointer))
    var start: UnsafeMutablePointer<CChar>?
    let length = siwa_bio_bytes(bio.pointer, &start)
    var buffer = SecretBuffer(capacity: length)
    buffer.append(contentsOf: UnsafeRawBufferPointer(start: start, count: length))
    return buffer.finished()
}
