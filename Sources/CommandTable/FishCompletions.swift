struct FishCompletions { let tree: CompletionTree; var script: String { "" } }
