/// A writable place inside a value; write a key path literal such as `\.code`.
///
/// A key path literal is `Sendable` in Swift 6 only if the expected type requires it, as this alias
/// does.
package typealias Path<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

/// A place that is looked up when it is used: creating a key path takes longer than all of parsing,
/// and a line uses few of the options.
package typealias LazyPath<Root, Value> = @Sendable () -> Path<Root, Value>

/// A row of the table: one parameter, and the property that receives its value.
package struct Parameter<Root>: Sendable {
    /// The parameter as data, without its default, which `info(for:)` adds.
    package let info: ParameterInfo

    let destination: Destination<Root>

    /// The same parameter for a type that contains a `Root`, for option groups.
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
