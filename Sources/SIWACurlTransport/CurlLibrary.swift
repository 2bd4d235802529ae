internal import SIWACCurl
internal import SIWALifecycle

/// libcurl, loaded when it is first used and never unloaded.
struct CurlLibrary: Sendable {
    /// The functions, which are never freed: unloading a library
    /// that has run threads of its own is not safe.
    let curl: siwa_curl
    /// The folder of trusted authorities that libcurl was built for.
    let authorityFolder: String?
    /// The file of trusted authorities that libcurl was built for.
    let authorityFile: String?
    /// Whether it uses OpenSSL 3 for TLS, the only library whose sessions can be read.
    let usesOpenSSL: Bool

    static let shared = Result { () throws(TransportError) in try CurlLibrary() }

    private init() throws(TransportError) {
        var isLoaded = false
        curl = siwa_curl_load(&isLoaded)
        guard isLoaded else {
            let reason = dlerror().map { String(cString: $0) } ?? "unknown reason"
            throw unavailable("libcurl cannot be loaded: \(reason)")
        }
        let code = curl.call.curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard code == CURLE_OK else { throw unavailable("libcurl cannot start (\(code.rawValue))") }
        let version = curl.call.curl_version_info(siwa_version_now())
        guard let version, version.pointee.version_num >= 0x075700 else {
            throw unavailable("libcurl is older than 7.87")
        }
        authorityFolder = version.pointee.capath.map { String(cString: $0) }
        authorityFile = version.pointee.cainfo.map { String(cString: $0) }
        usesOpenSSL =
            version.pointee.ssl_version.map { String(cString: $0).hasPrefix("OpenSSL/3") } ?? false
    }

    /// libcurl's message for a result code.
    func message(_ code: CURLcode) -> String {
        curl.call.curl_easy_strerror(code).map { String(cString: $0) }
            ?? "error \(code.rawValue)"
    }
}

/// The error if the transport cannot work at all.
func unavailable(_ message: String) -> TransportError {
    TransportError(.unavailable, message, requestMayHaveLeft: false)
}

extension siwa_curl {
    /// The functions.
    var call: siwa_curl_functions {
        @inline(__always) get { functions.pointee }
    }
}
