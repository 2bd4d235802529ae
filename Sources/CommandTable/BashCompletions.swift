struct BashCompletions { let tree: CompletionTree; var script: String { "" } }
