/** A way to a server that loses answers: the connection breaks after the server has spoken. */

import { type AddressInfo, connect, createServer } from 'node:net';

/** Starts it. `lose` makes the next answer be lost; `onLost` runs before the caller notices. */
export async function startLosingProxy(port: number) {
  let onLost: (() => Promise<void>) | null = null;
  const server = createServer((client) => {
    const far = connect(port, '127.0.0.1');
    for (const side of [client, far]) side.on('error', () => undefined);
    client.pipe(far);
    client.on('close', () => far.destroy());
    far.on('end', () => client.end());
    far.on('data', (data) => {
      if (onLost === null) {
        client.write(data);
        return;
      }
      const act = onLost;
      onLost = null;
      far.removeAllListeners('data').pause();
      void act().finally(() => client.resetAndDestroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose: (act: () => Promise<void>) => {
      onLost = act;
    },
    /** True: an answer is still to be lost. */
    isWaiting: () => onLost !== null,
    stop: () => server.close(),
  };
}
