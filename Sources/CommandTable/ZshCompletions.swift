struct ZshCompletions { let tree: CompletionTree; var script: String { "" } }
