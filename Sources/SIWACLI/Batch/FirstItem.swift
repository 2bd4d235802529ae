internal import SIWAApplication
internal import SIWACrypto
internal import SIWAJOSE
internal import SIWALifecycle
internal import SIWASystem

extension BatchRunner {
    /// The first line of the input that is an item, for a dry run. Writes no file.
    func firstItem<Item>(
        hint: String,
        _ read: ItemReading<Item>
    ) async throws -> Item {
        let input = try StreamingLines(options.input?.path, in: world)
        while let lines = try await input.next() {
            for line in lines {
                if let first = try? line.item(read) { return first }
            }
        }
        throw Diagnosis.negative(.noItems, "the input has no item", hints: [hint])
    }
}
