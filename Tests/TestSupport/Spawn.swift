import Glibc

/// Starts a program with exactly these arguments, variables and streams, which it gets as 0, 1,
/// 2 and so on: no other descriptor, no blocked or ignored signal passes from the test to the child,
/// except that the child begins with `blocked` signals.
/// The options of the address sanitizer do.
func spawn(
    _ path: String, _ arguments: [String], _ environment: [String: String], streams: [CInt],
    blocked: [CInt] = []
) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (target, source) in streams.enumerated() {
        posix_spawn_file_actions_adddup2(&actions, source, CInt(target))
    }
    try closeEverything(from: CInt(streams.count), &actions)
    var attributes = try defaultSignals(blocking: blocked)
    defer { posix_spawnattr_destroy(&attributes) }
    let inherited = getenv("ASAN_OPTIONS").map { ["ASAN_OPTIONS": String(cString: $0)] } ?? [:]
    let variables = environment.merging(inherited) { own, _ in own }
        .map { "\($0.key)=\($0.value)" }.sorted()
    var pid = pid_t()
    let code = withCStrings([path] + arguments) { arguments in
        withCStrings(variables) { variables in
            posix_spawn(&pid, path, &actions, &attributes, arguments, variables)
        }
    }
    guard code == 0 else { throw SystemFailure("spawn \(path)", code: code) }
    return pid
}

private typealias CloseFrom =
    @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt

/// glibc's `addclosefrom_np` is a GNU extension, which Swift's Glibc does not import.
private func closeEverything(
    from first: CInt, _ actions: inout posix_spawn_file_actions_t
) throws {
    guard let address = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
        throw SystemFailure("posix_spawn_file_actions_addclosefrom_np", code: ENOSYS)
    }
    let code = unsafeBitCast(address, to: CloseFrom.self)(&actions, first)
    guard code == 0 else { throw SystemFailure("addclosefrom", code: code) }
}

private func defaultSignals(blocking blocked: [CInt]) throws -> posix_spawnattr_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    var mask = sigset_t()
    var all = sigset_t()
    sigemptyset(&mask)
    for number in blocked { sigaddset(&mask, number) }
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setsigdefault(&attributes, &all)
    let code = posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    guard code == 0 else { throw SystemFailure("posix_spawnattr_setflags", code: code) }
    return attributes
}

/// Lends `texts` as C's null-terminated list of strings.
private func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
}
