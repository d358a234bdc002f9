/** A way to a server on which connections break, most often in the middle of what they carry. */

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Random } from './random.ts';

/** Starts it. Of so many pieces that it carries some one breaks, at a random byte. */
export async function startCuttingRelay(port: number, random: Random, every: number) {
  const clients = new Set<Socket>();
  let isWhole = false;
  let left = random.int(1, 2 * every);
  const cuts = { asked: 0, answered: 0 };
  const carry = (from: Socket, to: Socket, what: 'asked' | 'answered') => {
    from.on('data', (piece: Buffer) => {
      left -= 1;
      if (isWhole || left > 0) {
        to.write(piece);
        return;
      }
      left = random.int(1, 2 * every);
      cuts[what] += 1;
      from.removeAllListeners('data').pause();
      // As from a proxy that is ended, or a network that is gone.
      to.write(piece.subarray(0, random.int(0, piece.length - 1)), () => {
        if (random.chance(0.5)) to.resetAndDestroy();
        else to.destroy();
        from.destroy();
      });
    });
    from.on('error', () => undefined);
    from.on('close', () => to.destroy());
  };
  const server = createServer((client) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    const far = connect(port, '127.0.0.1');
    carry(client, far, 'asked');
    carry(far, client, 'answered');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How many broke in a request or a frame of the device, and in an answer. */
    cuts,
    /** Ends all connections. */
    drop: () => {
      for (const client of clients) client.destroy();
    },
    /** From now on nothing breaks any more. */
    mend: () => {
      isWhole = true;
    },
    stop: () => {
      for (const client of clients) client.destroy();
      server.close();
    },
  };
}
