internal import Glibc
internal import SignInWithApple

/// Whom to trust: the system's authorities, and one file more when the settings name one.
struct Authorities: Sendable {
    /// A folder with hashed links; each certificate is read when it is needed.
    let folder: String?
    /// Certificates that are all read at once.
    let bundle: Bundle

    enum Bundle: Sendable {
        case none
        case file(String)
        case text([UInt8])
    }

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
        bundle =
            switch files.count {
            case 0: .none
            case 1: .file(files[0])
            // libcurl takes one file: several become one text.
            default: .text(try Self.contents(of: files))
            }
    }

    private static func system(
        _ variables: (String) -> String?, _ library: CurlLibrary
    ) -> (folder: String?, file: String?) {
        if let bundle = variables("CURL_CA_BUNDLE") { return (nil, bundle) }
        let named = (variables("SSL_CERT_DIR"), variables("SSL_CERT_FILE"))
        if named.0 != nil || named.1 != nil { return named }
        // The folder costs one small file a handshake, the bundle a hundred and forty.
        if let folder = library.authorityFolder, hasHashedLinks(folder) { return (folder, nil) }
        return (library.authorityFolder, library.authorityFile)
    }

    /// Whether `c_rehash` or `openssl rehash` prepared the folder: a name like `5ad8a5d6.0`.
    private static func hasHashedLinks(_ folder: String) -> Bool {
        guard let directory = opendir(folder) else { return false }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            // Through its address: an entry is only as long as its name, whatever its type says.
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

    private static func contents(of files: [String]) throws(TransportError) -> [UInt8] {
        var text: [UInt8] = []
        for path in files {
            guard let file = fopen(path, "re") else {
                throw TransportError(
                    .authorities, "'\(path)': \(String(cString: strerror(errno)))",
                    requestMayHaveLeft: false)
            }
            defer { fclose(file) }
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            while case let got = fread(&chunk, 1, chunk.count, file), got > 0 {
                text += chunk[..<got]
            }
            text.append(0x0A)
        }
        return text
    }
}
