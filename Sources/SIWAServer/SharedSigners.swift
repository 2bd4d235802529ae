internal import SIWAApplication
internal import SIWACrypto
internal import SIWALifecycle
internal import Synchronization

/// The signers of all profiles. Profiles that have the same one ask it one after the other, and none
/// asks again after it denied: a token may lock after three wrong PINs.
final class SharedSigners: Sendable {
    private let turns = Mutex<[SignerPlace: SignerTurns]>([:])

    /// The signer of a profile.
    func signer(
        _ base: any ClientSecretSigner, at place: SignerPlace
    ) -> any ClientSecretSigner {
        let turns = turns.withLock { turns in
            let found = turns[place] ?? SignerTurns()
            turns[place] = found
            return found
        }
        return SharedSigner(base: base, turns: turns)
    }
}

/// A signer that waits for its turn.
private struct SharedSigner: ClientSecretSigner {
    let base: any ClientSecretSigner
    let turns: SignerTurns

    func check() throws(SignerFailure) { try base.check() }

    func signature(for message: SecretBytes) async throws(SignerFailure) -> [UInt8] {
        await turns.begin()
        defer { turns.end() }
        if let denial = turns.denial { throw denial }
        do throws(SignerFailure) {
            return try await base.signature(for: message)
        } catch {
            if error.kind == .denied { turns.deny(error) }
            throw error
        }
    }
}

/// Whose turn it is to ask a signer. A turn ends soon, because every signer has a time limit.
private final class SignerTurns: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var denial: SignerFailure?
    }

    private let state = Mutex(State())

    /// Why the signer must not be asked again; nil if it may.
    var denial: SignerFailure? { state.withLock(\.denial) }

    func deny(_ failure: SignerFailure) { state.withLock { $0.denial = failure } }

    func begin() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Ends the turn; the next one has waited longest.
    func end() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }
}
