import Glibc

/// nginx on loopback, which reads a request before it answers, as a token endpoint does: its own
/// `return` would not, and libcurl takes that for an error (docs/batch.md).
struct Server {
    private let pid: pid_t

    /// Whether what it needs is installed: nginx and its echo module.
    static var program: String? {
        access(module, R_OK) == 0
            ? Child.installed("nginx")
                ?? ["/usr/sbin/nginx"].first { access($0, X_OK) == 0 } : nil
    }

    private static let module = "/usr/lib/nginx/modules/ngx_http_echo_module.so"

    /// Starts it and waits until it answers.
    init(_ fixture: Fixture, _ program: String) throws {
        try fixture.write("nginx.conf", Self.configuration(fixture))
        pid = try Child.start([program, "-c", fixture.file("nginx.conf")])
        for _ in 0..<100 {
            if Self.answers { return }
            usleep(50_000)
        }
        Child.end(pid)
        throw BenchmarkError("nginx does not answer; \(fixture.file("nginx.log")) says why")
    }

    /// Ends it.
    func stop() { Child.end(pid) }

    private static var answers: Bool {
        let socket = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(Fixture.port).bigEndian)
        address.sin_addr.s_addr = in_addr_t(UInt32(0x7F00_0001).bigEndian)
        return withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                connect(socket, $0.baseAddress, socklen_t(bytes.count)) == 0
            }
        }
    }

    private static func configuration(_ fixture: Fixture) -> String {
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(fixture.file($0));" }.joined(separator: "\n    ")
        return """
            load_module \(module);
            daemon off;
            worker_processes 1;
            pid \(fixture.file("nginx.pid"));
            error_log \(fixture.file("nginx.log")) warn;
            events { worker_connections 1024; }
            http {
                access_log off;
                \(folders)
                keepalive_requests 100000000;
                http2_max_concurrent_streams 100;
                server {
                    listen 127.0.0.1:\(Fixture.port) ssl http2;
                    ssl_certificate \(fixture.file("server.pem"));
                    ssl_certificate_key \(fixture.file("server.key"));
                    location = /auth/revoke { echo_read_request_body; echo -n ''; }
                    location = /auth/token {
                        default_type application/json;
                        echo_read_request_body;
                        echo '{"access_token":"a.0","token_type":"Bearer","expires_in":3600}';
                    }
                }
            }
            """
    }
}
