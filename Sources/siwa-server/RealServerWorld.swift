internal import SIWAApplication
internal import SIWAHTTPServer
internal import SIWALifecycle
internal import SIWAServer
internal import SIWASystem
internal import SIWAVaultRecords
internal import SIWAWiring

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
            deliveryTransport: openDeliveryTransport, localTransport: openLocalTransport)
    }
}
