internal import SIWACOpenSSL

/// The text that `write` writes to a memory BIO, whose copy is overwritten.
func pem(_ write: (OpaquePointer) -> CInt) throws(OpenSSLError) -> SecretBytes {
    let bio = try Owned<MemoryBIO>(openssl.BIO_new(openssl.BIO_s_secmem()))
    try check(write(bio.pointer))
    var start: UnsafeMutablePointer<CChar>?
    let length = openssl.BIO_ctrl(bio.pointer, BIO_CTRL_INFO, 0, &start)
    var buffer = SecretBuffer(capacity: length)
    buffer.append(contentsOf: UnsafeRawBufferPointer(start: start, count: length))
    return buffer.finished()
}
