internal import Glibc

/// What the standard library calls when a program asks for `CommandLine`, in place of its own: that
/// one reads the arguments from `/proc` at every start, and the map of the memory first
/// (docs/decisions/linking.md). Programs of this project take them from C; only test runners ask.
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
