internal import Glibc
internal import SIWALifecycle

/// The trusted authorities: the system's, and those of an additional file.
struct Authorities: Sendable {
    /// A folder with hashed links; each certificate is read when it is needed.
    let folder: String?
    /// A file of certificates, which are all read at once.
    let file: String?
    /// The file in memory behind `file`, unless that is one of the system as it is.
    private let joined: JoinedFile?

    /// - Parameters:
    ///   - extra: added to the system's authorities, never in their place.
    ///   - variables: `CURL_CA_BUNDLE`, `SSL_CERT_FILE` and `SSL_CERT_DIR` choose the
    ///     system's, as they do for curl.
    init(
        adding extra: String?, variables: (String) -> String?, _ library: CurlLibrary
    ) throws(TransportError) {
        let system = Self.system(variables, library)
        folder = system.folder
        let files = [system.file, extra].compactMap(\.self)
        // An additional file may be replaced or removed while what it had is in use.
        let isReadAsItIs = extra == nil && !files.contains(where: JoinedFile.hasByteOrderMark)
        joined = isReadAsItIs ? nil : try JoinedFile(files)
        file = joined?.path ?? files.first
    }

    private static func system(
        _ variables: (String) -> String?, _ library: CurlLibrary
    ) -> (folder: String?, file: String?) {
        if let bundle = variables("CURL_CA_BUNDLE") { return (nil, bundle) }
        let named = (variables("SSL_CERT_DIR"), variables("SSL_CERT_FILE"))
        if named.0 != nil || named.1 != nil { return named }
        // With the folder, a handshake reads one small file; the bundle has a hundred and forty
        // certificates.
        if let folder = library.authorityFolder, hasHashedLinks(folder) { return (folder, nil) }
        return (library.authorityFolder, library.authorityFile)
    }

    /// Whether `c_rehash` or `openssl rehash` prepared the folder: a name like `5ad8a5d6.0`.
    private static func hasHashedLinks(_ folder: String) -> Bool {
        guard let directory = opendir(folder) else { return false }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            // Through its address: an entry is only as long as its name, shorter than its type.
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return false }
            let name = UnsafeRawPointer(entry) + offset
            if isHashedLink(String(cString: name.assumingMemoryBound(to: CChar.self))) {
                return true
            }
        }
        return false
    }

    static func isHashedLink(_ name: String) -> Bool {
        let name = Array(name.utf8)
        return name.count >= 10 && name[..<8].allSatisfy { isxdigit(CInt($0)) != 0 }
            && name[8] == UInt8(ascii: ".") && isdigit(CInt(name[9])) != 0
    }
}
