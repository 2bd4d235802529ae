internal import CCurl
internal import Lifecycle

/// Sets the options of one easy handle.
struct EasyOptions {
    let easy: UnsafeMutableRawPointer
    let library: CurlLibrary

    /// What holds for every connection.
    func setCommon(trusting authorities: Authorities) throws(TransportError) {
        try set(CURLOPT_PROTOCOLS_STR, "https,http")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_NOSIGNAL, 1)
        // Otherwise cleaning up waits for a resolver that does not answer.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_CAPATH, authorities.folder)
        try set(CURLOPT_CAINFO, authorities.file)
    }

    func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try check(siwa_set_long(library.functions, easy, option, value))
    }

    func set(_ option: CURLoption, _ value: String?) throws(TransportError) {
        try check(siwa_set_string(library.functions, easy, option, value))
    }

    /// libcurl borrows what the pointer leads to.
    func set(_ option: CURLoption, lending value: UnsafeRawPointer?) throws(TransportError) {
        try check(siwa_set_pointer(library.functions, easy, option, value))
    }

    /// The one check of libcurl's "returns CURLE_OK" convention.
    func check(_ code: CURLcode) throws(TransportError) {
        guard code == CURLE_OK else {
            throw unavailable("libcurl refuses a setting: \(library.message(code))")
        }
    }
}
