internal import CurlTransport
internal import HTTPServer
internal import Lifecycle
internal import LocalFiles
internal import RealWorld
internal import SIWACLI
internal import SIWAServer

extension ServerWorld {
    /// The system's clocks, files and sockets, and libcurl for the network.
    static func real(stop: WakeSignal, reload: WakeSignal) -> ServerWorld {
        // With its own signal handling, because the server ends differently from a command.
        var base = World.real(.none)
        base.actor = VaultActor(command: "siwa-server", host: base.actor.host)
        return ServerWorld(
            base: base, stop: stop, reload: reload, serviceManager: ServiceManager(environment),
            inheritedSockets: InheritedSockets(environment), processors: usableProcessorCount(),
            owner: "\(base.actor.host)-\(processID())-\(UInt32.random(in: .min ... .max))",
            deliveryTransport: { authorityFile throws(TransportError) in
                try CurlTransport(
                    authorityFile: authorityFile, variables: environment, policy: .deliveries)
            })
    }
}
