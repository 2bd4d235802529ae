internal import SIWACCurl
internal import SIWALifecycle

/// Sets the options of one easy handle.
struct EasyOptions {
    let easy: UnsafeMutableRawPointer
    let library: CurlLibrary

    /// Sets the options of every connection.
    func setCommon(trusting authorities: Authorities) throws(TransportError) {
        try set(CURLOPT_PROTOCOLS_STR, "https,http")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_NOSIGNAL, 1)
        // Otherwise, cleaning up would wait for a resolver that does not answer.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_CAPATH, authorities.folder)
        try set(CURLOPT_CAINFO, authorities.file)
    }

    func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try check(siwa_set_long(library.curl, easy, option, value))
    }

    func set(_ option: CURLoption, _ value: String?) throws(TransportError) {
        try check(siwa_set_string(library.curl, easy, option, value))
    }

    /// Sets an option to a pointer; its memory must live as long as the handle uses it.
    func set(_ option: CURLoption, lending value: UnsafeRawPointer?) throws(TransportError) {
        try check(siwa_set_pointer(library.curl, easy, option, value))
    }

    /// Throws unless libcurl returned CURLE_OK.
    func check(_ code: CURLcode) throws(TransportError) {
        guard code == CURLE_OK else {
            throw unavailable("libcurl refuses a setting: \(library.message(code))")
        }
    }
}
