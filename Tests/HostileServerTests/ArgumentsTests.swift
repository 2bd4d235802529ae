import Glibc
import SIWATestSupport
import Testing

/// Arguments reach the programs by way of C's entry point. Swift's own `CommandLine` finds them by
/// `/proc/self/maps`.
@Suite struct ArgumentsTests {
    static let products = ["siwa", "siwa-emulator", "siwa-server"]

    @Test(
        .enabled(if: geteuid() == 0, "needs root, to mount over /proc"), arguments: products)
    func `arguments are read without /proc`(_ name: String) async throws {
        let result = try await withoutProc(name, "--version")
        #expect(result.output.hasPrefix("\(name) "), "\(result)")
    }

    @Test(
        .enabled(if: geteuid() == 0, "needs root, to mount over /proc"),
        arguments: ["siwa-emulator", "siwa-server"])
    func `the server reports that it needs /proc`(_ name: String) async throws {
        let result = try await withoutProc(name, "serve", name == "siwa-server" ? [] : ["folder"])
        #expect(result.exitCode == 3, "\(result)")
        let lines = result.errors.split(separator: "\n")
        #expect(lines.first?.hasPrefix("\(name): configuration: cannot use '/proc'") == true)
        #expect(lines.dropFirst().first == "hint: mount it: mount -t proc proc /proc")
    }

    private func withoutProc(
        _ name: String, _ command: String, _ arguments: [String] = []
    ) async throws -> ProgramResult {
        let unshare = try #require(Executable.installed("unshare"))
        return try await unshare.run(
            Executable.Call(
                ["-m", "bash", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"]
                    + [try Executable.product(name).path, command] + arguments,
                environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]))
    }

    @Test(arguments: products)
    func `arguments are read correctly with a preloaded library`(_ name: String) async throws {
        let folder = try TemporaryFolder()
        let source = try folder.write("preloaded.c", Self.hidingTheMemoryMap)
        let library = folder.path("preloaded.so")
        let compiled = try await Executable(path: "/usr/bin/env").run(
            "clang", "-shared", "-fPIC", "-o", library, source, environment: ["PATH": path])
        try #require(compiled.exitCode == 0, "\(compiled)")
        let result = try await Executable.product(name).run(
            "--version", environment: ["LD_PRELOAD": library])
        #expect(result.output.hasPrefix("\(name) "), "\(result)")
    }

    @Test(arguments: products)
    func `arguments that are not UTF-8 are refused with a clear error`(_ name: String) async throws
    {
        let result = try await Executable(path: "/bin/bash").run(
            "-c", "exec \"$0\" inspect $'\\xff'", try Executable.product(name).path)
        #expect(result.exitCode == 2, "\(result)")
        #expect(result.errors.hasPrefix("\(name): usage: an argument is not UTF-8\n"), "\(result)")
    }

    /// Where Swift's toolchain is, which has a C compiler.
    private var path: String { getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin" }

    private static let hidingTheMemoryMap = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdio.h>
        #include <string.h>
        FILE *fopen(const char *path, const char *mode) {
            if (strcmp(path, "/proc/self/maps") == 0) return NULL;
            FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");
            return next(path, mode);
        }
        """
}
