extension Tool {
    /// Reads a command line, without the program's own name.
    ///
    /// Reads no files, environment variables or standard input.
    package func parse(_ arguments: [String]) throws(UsageError) -> Invocation<World> {
        var preamble = Lexer(arguments[...], flags: globals, beforeCommand: true)
        preamble.readFlags()
        switch preamble.rest.first {
        case nil, "--":
            return try answer(preamble.tokens, about: nil) { () throws(UsageError) in
                throw error(preamble.fault ?? .missingCommand)
            }
        case "help": return try explain(preamble.rest.dropFirst())
        case "version": return try answerVersion(preamble.rest.dropFirst())
        case _: return try parseCommand(after: preamble, arguments)
        }
    }

    /// `siwa help COMMAND`.
    private func explain(_ arguments: ArraySlice<String>) throws(UsageError) -> Invocation<World> {
        var lexer = Lexer(arguments, flags: globals)
        lexer.readAll()
        if let fault = lexer.fault { throw error(fault) }
        return .help(try help(for: lexer.operands.joined(separator: " ")))
    }

    /// `siwa version`, as `--version`.
    private func answerVersion(
        _ arguments: ArraySlice<String>
    ) throws(UsageError) -> Invocation<World> {
        var lexer = Lexer(arguments, flags: globals)
        lexer.readAll()
        return try answer(lexer.tokens, about: nil) { () throws(UsageError) in
            if let fault = lexer.fault { throw error(fault) }
            guard lexer.operands.isEmpty else {
                throw error(.unexpectedOperand(typed: quotedName(lexer.operands[0])))
            }
            return .version(versionLine)
        }
    }

    private var versionLine: String { "\(name) \(version)\n" }

    /// Reads a line that has a command; flags before the command are treated like flags after it.
    private func parseCommand(
        after preamble: Lexer, _ arguments: [String]
    ) throws(UsageError) -> Invocation<World> {
        let typedBefore = arguments[..<preamble.rest.startIndex]
        let lookup = lookup
        let words = Array(
            preamble.rest.prefix(lookup.longest).prefix { !$0.isFlagLike && $0 != "--" })
        switch try match(words, in: lookup, preamble.fault) {
        case .command(let index, let count):
            let line = typedBefore + preamble.rest.dropFirst(count)
            return try read(commands[index], line, preamble.fault)
        case .group(let word):
            var lexer = Lexer(typedBefore + preamble.rest, flags: globals)
            lexer.readAll()
            return try answer(lexer.tokens, about: word) { () throws(UsageError) in
                throw error(preamble.fault ?? lookup.incomplete(words))
            }
        }
    }

    /// A fault before the command is reported first: the value of a misread flag may be taken for
    /// the command.
    private func match(
        _ words: [String], in lookup: CommandLookup, _ fault: UsageError.Problem?
    ) throws(UsageError) -> CommandLookup.Match {
        do throws(UsageError.Problem) {
            return try lookup.match(words)
        } catch {
            throw self.error(fault ?? error)
        }
    }

    private func read<C: Command<World>>(
        _ type: C.Type, _ line: ArraySlice<String>, _ fault: UsageError.Problem?
    ) throws(UsageError) -> Invocation<World> {
        let parameters = C.parameters
        let infos = parameters.map { $0.info }
        var lexer = Lexer(line, flags: infos)
        lexer.readAll()
        return try answer(lexer.tokens, about: C.name) { () throws(UsageError) in
            do throws(UsageError.Problem) {
                if let fault = fault ?? lexer.fault { throw fault }
                return .run(try Binder<C>.bind(lexer.tokens, to: parameters, infos))
            } catch {
                throw self.error(error, in: C.name)
            }
        }
    }

    /// `--help` and `--version` take precedence over all faults of a line.
    private func answer(
        _ tokens: [Token], about commandName: String?,
        otherwise: () throws(UsageError) -> Invocation<World>
    ) throws(UsageError) -> Invocation<World> {
        switch BuiltInRequest(tokens) {
        case .help: .help(try help(for: commandName))
        case .version: .version(versionLine)
        case nil: try otherwise()
        }
    }
}
