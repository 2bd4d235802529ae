# application.py PORT: an application to which siwa-server delivers events: reads them and answers 204.
import asyncio
import sys


class Application(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.data = transport, b""

    def data_received(self, data):
        self.data += data
        while (end := self.data.find(b"\r\n\r\n")) >= 0:
            head = self.data[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15:].split(b"\r\n")[0]) if at >= 0 else 0
            if len(self.data) < end + 4 + length:
                return
            self.data = self.data[end + 4 + length:]
            self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")


async def serve():
    server = await asyncio.get_running_loop().create_server(Application, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(serve())
