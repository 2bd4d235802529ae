package import SIWAApplication
package import SIWAHTTPServer
package import SIWALifecycle
package import SIWASystem

/// The side effects of siwa-server, which tests replace.
package struct ServerWorld: Sendable {
    /// The side effects that commands of `siwa` share.
    var base: World
    /// Notified by a signal to end the process.
    package var stop: WakeSignal
    /// Notified by a signal to reload the settings.
    package var reload: WakeSignal
    var serviceManager: ServiceManager
    /// The sockets that the service manager opened.
    var inheritedSockets: InheritedSockets
    /// Creates the transport to the application; the parameter is a file of additional authorities.
    var deliveryTransport: @Sendable (String?) throws(TransportError) -> any Transport
    /// Creates the transport to programs of this machine.
    var localTransport: @Sendable () throws(TransportError) -> any Transport
    /// The number of threads that can run at the same time.
    var processors: Int
    /// Identifies this run of this process among all replicas.
    var owner: String

    /// Creates a world.
    package init(
        base: World, stop: WakeSignal, reload: WakeSignal, serviceManager: ServiceManager,
        inheritedSockets: InheritedSockets, processors: Int, owner: String,
        deliveryTransport: @escaping @Sendable (String?) throws(TransportError) -> any Transport,
        localTransport: @escaping @Sendable () throws(TransportError) -> any Transport
    ) {
        (self.base, self.stop, self.reload) = (base, stop, reload)
        (self.serviceManager, self.inheritedSockets) = (serviceManager, inheritedSockets)
        (self.processors, self.owner) = (processors, owner)
        (self.deliveryTransport, self.localTransport) = (deliveryTransport, localTransport)
    }
}
