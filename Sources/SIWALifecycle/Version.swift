/// siwa's version, as `--version` and the User-Agent show it.
package let version = "1.0.0"
