// swift-format-ignore-file
// Declarations of swift-crypto 3, without their work.
public import Foundation

public enum P256 {
    public enum Signing {
        public struct ECDSASignature: Sendable {
            public var rawRepresentation: Data { Data() }
        }
        public struct PrivateKey: Sendable {
            public init() {}
            public func signature<D: DataProtocol>(for data: D) throws -> ECDSASignature {
                ECDSASignature()
            }
        }
    }
}
