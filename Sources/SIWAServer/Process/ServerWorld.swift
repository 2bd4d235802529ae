package import HTTPServer
package import Lifecycle
package import LocalFiles
package import SIWACLI

/// Everything outside of the program that siwa-server may touch.
package struct ServerWorld: Sendable {
    /// What commands of `siwa` touch as well.
    package var base: World
    /// Notified when a signal asked the process to end.
    package var stop: WakeSignal
    /// Notified when a signal asked it to read its settings again.
    package var reload: WakeSignal
    /// The service manager.
    package var serviceManager: ServiceManager
    /// The sockets that the service manager opened.
    package var inheritedSockets: InheritedSockets
    /// Makes the way to the application, with a file of authorities to trust besides the system's.
    package var deliveryTransport: @Sendable (String?) throws(TransportError) -> any Transport
    /// How many threads can run at the same time.
    package var processors: Int
    /// Names this run of this process among all replicas.
    package var owner: String

    /// Puts a world together.
    package init(
        base: World, stop: WakeSignal, reload: WakeSignal, serviceManager: ServiceManager,
        inheritedSockets: InheritedSockets, processors: Int, owner: String,
        deliveryTransport: @escaping @Sendable (String?) throws(TransportError) -> any Transport
    ) {
        (self.base, self.stop, self.reload) = (base, stop, reload)
        (self.serviceManager, self.inheritedSockets) = (serviceManager, inheritedSockets)
        (self.processors, self.owner) = (processors, owner)
        self.deliveryTransport = deliveryTransport
    }
}
