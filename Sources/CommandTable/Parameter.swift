/// A writable place inside a value; write a key path literal such as `\.code`.
///
/// A literal is `Sendable` in Swift 6 only where the type asked for says so, hence this one alias.
package typealias Path<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

/// A place that is looked up when it is used: making a key path takes the runtime longer than
/// all of parsing, and a line uses few of the options there are.
package typealias LazyPath<Root, Value> = @Sendable () -> Path<Root, Value>

/// A row of the table: what there is to know about one option, and where its value goes.
package struct Parameter<Root>: Sendable {
    /// What can be written down about it. The default is filled in by `info(for:)`.
    package let info: ParameterInfo

    let destination: Destination<Root>

    /// The same option for a value that holds a `Root`: how option groups are shared.
    package func rerooted<NewRoot>(at path: Path<NewRoot, Root>) -> Parameter<NewRoot> {
        Parameter<NewRoot>(info: info, destination: destination.rerooted(at: path))
    }

    /// The same option, accepted before the command as well.
    package func global() -> Self {
        var info = info
        info.isGlobal = true
        return Self(info: info, destination: destination)
    }

    /// `info` with the default read from `fresh`, so that help cannot disagree with the program.
    package func info(for fresh: Root) -> ParameterInfo {
        var info = info
        info.defaultValue = destination.defaultValue(fresh)
        return info
    }
}

extension Command {
    /// The table as data, defaults included.
    static var parameterInfos: [ParameterInfo] {
        let fresh = Self()
        return parameters.map { $0.info(for: fresh) }
    }
}
