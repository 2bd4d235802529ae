extension Tool {
    /// Reads a command line, without the program's own name.
    ///
    /// Nothing is read from anywhere else: no file, no variable, no standard input.
    public func parse(_ arguments: [String]) throws(UsageError) -> Invocation<World> {
        var preamble = Lexer(arguments[...], flags: globals, beforeCommand: true)
        preamble.readFlags()
        let request = BuiltInRequest(preamble.tokens)
        if let fault = preamble.fault, request == nil { throw error(fault) }
        let typedBefore = arguments[..<preamble.rest.startIndex]
        switch preamble.rest.first {
        case nil, "--": return try answer(request)
        case "help": return try explain(typedBefore + preamble.rest.dropFirst())
        case _: return try parseCommand(preamble.rest, after: typedBefore)
        }
    }

    /// What a line without a command gets.
    private func answer(_ request: BuiltInRequest?) throws(UsageError) -> Invocation<World> {
        switch request {
        case .help: return .help(try help(for: nil))
        case .version: return versionLine
        case nil: throw error(.missingCommand)
        }
    }

    /// `siwa help COMMAND`.
    private func explain(_ arguments: ArraySlice<String>) throws(UsageError) -> Invocation<World> {
        var lexer = Lexer(arguments, flags: globals)
        lexer.readAll()
        if let fault = lexer.fault { throw error(fault) }
        let words = lexer.tokens.compactMap { token -> String? in
            if case .operand(let word) = token { word } else { nil }
        }
        return .help(try help(for: words.joined(separator: " ")))
    }

    /// Reads a line that has a command; the flags before it count as typed after it.
    private func parseCommand(
        _ line: ArraySlice<String>, after typedBefore: ArraySlice<String>
    ) throws(UsageError) -> Invocation<World> {
        let lookup = lookup
        let words = Array(line.prefix(lookup.longest).prefix { !$0.isFlagLike && $0 != "--" })
        let match: CommandLookup.Match
        do throws(UsageError.Problem) {
            match = try lookup.match(words)
        } catch {
            throw self.error(error)
        }
        switch match {
        case .command(let index, let count):
            return try read(commands[index], typedBefore + line.dropFirst(count))
        case .group(let word):
            var lexer = Lexer(typedBefore + line, flags: globals)
            lexer.readAll()
            switch BuiltInRequest(lexer.tokens) {
            case .help: return .help(try help(for: word))
            case .version: return versionLine
            case nil: throw error(lookup.incomplete(words))
            }
        }
    }

    private func read<C: Command<World>>(
        _ type: C.Type, _ arguments: ArraySlice<String>
    ) throws(UsageError) -> Invocation<World> {
        let parameters = C.parameters
        var lexer = Lexer(arguments, flags: parameters.map(\.info))
        lexer.readAll()
        switch BuiltInRequest(lexer.tokens) {
        case .help: return .help(try help(for: C.name))
        case .version: return versionLine
        case nil: break
        }
        do throws(UsageError.Problem) {
            if let fault = lexer.fault { throw fault }
            return .run(try Binder<C>.bind(lexer.tokens, to: parameters))
        } catch {
            throw self.error(error, in: C.name)
        }
    }

    private var versionLine: Invocation<World> { .version("\(name) \(version)\n") }
}
