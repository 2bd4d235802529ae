/// The name of ``CurlTransport`` in modules that declare another `CurlTransport`: this module and its
/// class have the same name, so `CurlTransport.CurlTransport` cannot be written there.
package typealias CurlEngine = CurlTransport
