internal import CurlTransport
internal import Glibc
internal import HTTPServer
internal import Lifecycle
internal import LocalFiles
internal import RealWorld
internal import SIWACLI
internal import SIWAServer

/// The entry point that C starts, under the name by which SwiftPM links an executable's `main`; see
/// that of `siwa`.
@_cdecl("siwa_server_main")
func runProcess(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    let arguments = unsafe prepareProcess(count, arguments)
    ProcessSignals.handle(for: "siwa-server")
    let world = ServerWorld.real(stop: WakeSignal(), reload: WakeSignal())
    Task { _exit(await runServer(arguments, in: world)) }
    while true {
        WakeUp.main.wait()
        if ProcessSignals.received != nil, world.stop.count == 0 { world.stop.notify() }
        while world.reload.count < ProcessSignals.hangUps { world.reload.notify() }
    }
}

extension ServerWorld {
    /// The system's clocks, files and sockets, and libcurl for the network.
    fileprivate static func real(stop: WakeSignal, reload: WakeSignal) -> ServerWorld {
        // Its own signals, because the process ends in another way than a command.
        var base = World.real(.none)
        base.actor = VaultActor(command: "siwa-server", host: base.actor.host)
        return ServerWorld(
            base: base, stop: stop, reload: reload, serviceManager: ServiceManager(environment),
            inheritedSockets: InheritedSockets(environment), processors: usableProcessorCount(),
            owner: "\(base.actor.host)-\(processID())-\(UInt32.random(in: .min ... .max))",
            deliveryTransport: { authorityFile throws(TransportError) in
                // The variables of proxies are for the way to Apple.
                try CurlTransport(authorityFile: authorityFile)
            })
    }
}
