import SIWACrypto
import SIWAJOSE
import SIWALifecycle
import Testing

@testable import SIWAApplication
@testable import SIWACLI

/// When the unusual items of an input are sent.
@Suite struct HeldItemsTests {
    private struct Item: NumberedItem {
        let line: Int
        let isUnusual: Bool
        var id: JSON? { nil }
        var fingerprint: String? { nil }
    }

    private func items(_ unusual: [Bool]) -> [Item] {
        unusual.enumerated().map { Item(line: $0.offset + 1, isUnusual: $0.element) }
    }

    @Test(arguments: [(49, true), (50, true), (51, false)])
    func `of 100 items, at most half can be unusual`(_ unusual: Int, _ isSent: Bool) {
        var held = HeldItems<Item>(holdsUnusual: true, after: TokenShapes())
        var sent: [Int] = []
        for item in items((0..<100).map { $0 < unusual }) {
            #expect(held.release() == nil && !held.isStopped, "before a hundred: \(item.line)")
            if let item = held.take(item) { sent.append(item.line) }
        }
        #expect(sent == Array(unusual + 1...100), "usual items go at once")
        #expect(held.isStopped == !isSent)
        var released: [Int] = []
        while let item = held.release() { released.append(item.line) }
        #expect(released == (isSent ? Array(1...unusual) : []))
        // Once it is decided, nothing is held any more.
        guard isSent else { return }
        #expect(held.take(Item(line: 101, isUnusual: true)) != nil)
    }

    @Test(arguments: [
        ([true], true), ([true, false], false), ([true, false, true], true), ([], false),
    ])
    func `an input with fewer than 100 items is judged at its end`(
        _ unusual: [Bool], _ isStopped: Bool
    ) {
        var held = HeldItems<Item>(holdsUnusual: true, after: TokenShapes())
        for item in items(unusual) { _ = held.take(item) }
        #expect(held.release() == nil && !held.isStopped)
        held.end()
        #expect(held.isStopped == isStopped)
    }

    @Test func `items that already have a result count as usual`() {
        var held = HeldItems<Item>(holdsUnusual: true, after: TokenShapes())
        for item in items([false, false]) { held.skip(item) }
        #expect(held.take(Item(line: 3, isUnusual: true)) == nil)
        held.end()
        #expect(held.release()?.line == 3)
    }

    @Test func `no item is held back if unusual items are allowed`() {
        var held = HeldItems<Item>(holdsUnusual: false, after: TokenShapes())
        for item in items(Array(repeating: true, count: 200)) { #expect(held.take(item) != nil) }
        held.end()
        #expect(!held.isStopped && held.shapes.unusual == 200)
    }
}
