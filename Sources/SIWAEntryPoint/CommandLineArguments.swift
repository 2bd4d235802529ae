internal import Glibc

/// Replaces the function that the standard library calls for `CommandLine`, which reads the
/// arguments and the memory map from `/proc` at every start (docs/decisions/linking.md). Programs
/// of this project get their arguments from C; only test runners use this. No library product may
/// depend on this target: the function would replace that of the host program.
///
/// - Returns: an array that ends with null, never freed.
@_cdecl("_swift_stdlib_getUnsafeArgvArgc")
func commandLineForStandardLibrary(
    _ count: UnsafeMutablePointer<CInt>
) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> {
    var arguments: [UnsafeMutablePointer<CChar>?] = []
    if let file = fopen("/proc/self/cmdline", "re") {
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        while getdelim(&line, &room, 0, file) > 0 {
            arguments.append(line.flatMap { strdup($0) })
        }
        free(line)
        fclose(file)
    }
    count.pointee = CInt(arguments.count)
    let all = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
        capacity: arguments.count + 1)
    for (index, argument) in (arguments + [nil]).enumerated() {
        (all + index).initialize(to: argument)
    }
    return all
}
