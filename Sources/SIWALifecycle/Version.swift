/// siwa's version, as `--version` and the User-Agent show it.
package let version = "0.1.0"
