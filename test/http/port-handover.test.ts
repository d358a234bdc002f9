/** The end of a listener: whoever comes last is not reset with it. */

import { expect, test } from 'bun:test';
import { makePortHandover } from '../../src/http/port-handover.ts';
import { until } from '../support/until.ts';

test('a port that is shut takes no new connection, and lets those that are made go on', async () => {
  const handover = makePortHandover();
  if (handover === null) return;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response('hello'),
  });
  const { port = 0 } = server;
  let heard = '';
  const connect = () =>
    Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        data: (_, data) => {
          heard += data;
        },
      },
    });
  const before = await connect();
  expect(handover.rejectNew(port)).toBe(true);
  let isMade = false;
  const after = connect().then(
    () => {
      isMade = true;
      return null;
    },
    (fault) => String(fault),
  );
  // The kernel hands it over with these bytes, which come after the end.
  before.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await until('the connection answers', () => heard.endsWith('hello'));
  expect(isMade).toBe(false);
  await server.stop(true);
  // It asks again after a second, and hears that nobody is there: nothing of it was sent.
  expect(await after).toContain('Failed to connect');
});
