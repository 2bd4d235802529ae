package import SIWACrypto

/// A TLS server: `openssl s_server` in front of one answer, on 127.0.0.1.
///
/// What it needs and machines may lack is the openssl command: gate tests with
/// `.enabled(if: TLSServer.isAvailable)`.
package struct TLSServer: Sendable {
    /// The port the system chose.
    package let port: UInt16
    private let program: RunningProgram

    /// Whether the openssl command is installed.
    package static var isAvailable: Bool { Executable.installed("openssl") != nil }

    /// Serves every GET of `/answer` with `{}` while `body` runs.
    ///
    /// - Parameter options: further options of `openssl s_server`, such as `-tls1_1`.
    package static func serving<Result>(
        _ identity: TLSIdentity, _ options: [String] = [],
        body: (TLSServer) async throws -> Result
    ) async throws -> Result {
        let folder = try TemporaryFolder()
        try folder.write("answer", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        // -HTTP serves files of the working directory.
        let server = try await TLSServer(identity, in: folder, ["-HTTP"] + options)
        defer { server.program.signal(9) }
        return try await body(server)
    }

    /// Serves one connection while `body` runs: `answer` is sent at once.
    ///
    /// - Returns: what the client sent, beside the result of `body`.
    package static func answeringOnce<Result>(
        _ identity: TLSIdentity, _ answer: String, body: (TLSServer) async throws -> Result
    ) async throws -> (Result, received: String) {
        let folder = try TemporaryFolder()
        let server = try await TLSServer(identity, in: folder, ["-naccept", "1"])
        defer { server.program.signal(9) }
        try server.program.write(answer)
        let result = try await body(server)
        return (result, try server.program.outputSoFar())
    }

    private init(
        _ identity: TLSIdentity, in folder: TemporaryFolder, _ options: [String]
    ) async throws {
        let files = [
            "-cert", try folder.write("certificate.pem", identity.certificate),
            "-key", try folder.write("key.pem", identity.key),
        ]
        let shell = Executable(path: "/bin/sh")
        program = try shell.start(
            Executable.Call(
                [
                    "-c", "cd \"$0\" && exec openssl s_server -accept 127.0.0.1:0 \"$@\"",
                    folder.path,
                ]
                    + files + options,
                environment: ["PATH": "/usr/local/bin:/usr/bin:/bin"], input: .pipe))
        port = try await Self.announcedPort(program)
    }

    private static func announcedPort(_ program: RunningProgram) async throws -> UInt16 {
        var port: UInt16?
        try await eventually("openssl s_server accepts") {
            let line = try program.outputSoFar().split(separator: "\n").first {
                $0.hasPrefix("ACCEPT")
            }
            port = line?.split(separator: ":").last.flatMap { UInt16($0) }
            return port != nil
        }
        return port ?? 0
    }
}

/// What a TLS server shows and proves itself with, in PEM.
package struct TLSIdentity: Sendable {
    /// The certificate.
    package let certificate: [UInt8]
    /// Its private key.
    package let key: [UInt8]

    /// Takes what another program made.
    package init(certificate: [UInt8], key: [UInt8]) {
        (self.certificate, self.key) = (certificate, key)
    }

    /// Has `authority` issue a certificate.
    package init(_ authority: CertificateAuthority, _ names: ServerName...) throws {
        let key = try P256PrivateKey.generate()
        certificate = try authority.issueServerCertificate(names: names, key: key)
            .pemRepresentation()
        self.key = try key.pemRepresentation().revealed()
    }
}
