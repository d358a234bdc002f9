/** A way to the server that can be made to carry nothing any more, without being closed. */
export function startRelay(port: number, at = 0) {
  let isSilent = false;
  const clients = new Set<Bun.Socket<Side>>();
  type Side = { other: Bun.Socket<Side> | null; held: Uint8Array[] };
  const carry = (socket: Bun.Socket<Side>, data: Uint8Array) => {
    if (isSilent) return;
    if (socket.data.other === null) socket.data.held.push(data.slice());
    else socket.data.other.write(data);
  };
  const server = Bun.listen<Side>({
    hostname: '127.0.0.1',
    port: at,
    socket: {
      open(client) {
        client.data = { other: null, held: [] };
        clients.add(client);
        void Bun.connect<Side>({
          hostname: '127.0.0.1',
          port,
          data: { other: client, held: [] },
          socket: {
            open(far) {
              client.data.other = far;
              for (const data of client.data.held) far.write(data);
            },
            data: carry,
            close: (far) => void far.data.other?.end(),
          },
        });
      },
      data: carry,
      close: (client) => {
        clients.delete(client);
        client.data.other?.end();
      },
    },
  });
  return {
    port: server.port,
    silence: (is: boolean) => {
      isSilent = is;
    },
    /** Ends the connections that are there, or the one that the server sees at this port. */
    drop: (seenAt: number | null = null) => {
      for (const client of clients) {
        if (seenAt === null || client.data.other?.localPort === seenAt) client.terminate();
      }
    },
    stop: () => server.stop(true),
  };
}
