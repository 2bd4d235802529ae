/// siwa's version, as `--version` and the User-Agent show it.
public let version = "0.1.0"
