/** Closed sockets are not kept, and one that ended already takes no place of those that end. */

import { expect, test } from 'bun:test';
import { Farewells } from '../../src/http/stream/farewell.ts';
import { FakeClock } from '../support/clock.ts';

/** A socket without a connection, as one that has closed. */
function closedSocket() {
  const calls: string[] = [];
  return {
    calls,
    data: { ends: null },
    getBufferedAmount: () => 0,
    close: (code: number) => void calls.push(`close ${code}`),
    terminate: () => void calls.push('terminate'),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a socket that Bun closes is not kept: it may have closed before', async () => {
  const farewells = new Farewells(new FakeClock());
  const sockets = Array.from({ length: 20 }, closedSocket);
  for (const socket of sockets) farewells.close(socket, 4001, 'over');
  expect(farewells.waitingCount).toBe(20);
  await turn();
  expect(sockets.map(({ calls }) => calls)).toEqual(sockets.map(() => ['close 4001']));
  expect(farewells.waitingCount).toBe(0);
});
