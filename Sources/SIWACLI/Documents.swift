package import SIWAApplication
package import SIWACommandTable
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle

extension World: ToolWorld {
    package static var tool: Tool<Self> { siwaTool }

    package func print(_ document: ToolDocument, _ options: GlobalOptions) throws {
        let members: JSON =
            switch document.kind {
            case .manualPage: ["page": .string(document.text)]
            case .completions(let shell):
                ["shell": .string(shell.rawValue), "script": .string(document.text)]
            }
        try report(Report(members, text: SecretText(withoutLineEnd(document.text))), options.output)
    }

    package func write(
        _ documents: [ToolDocument], into folder: String, _ options: GlobalOptions
    ) throws {
        let paths = try files.write(documents, into: folder)
        try report(
            Report(
                ["files": .array(paths.map { .string($0) })],
                text: SecretText(paths.joined(separator: "\n")),
                of: Deed(
                    "the files were written into '\(folder)'",
                    hint: "run it again to see their names")), options.output)
    }
}
