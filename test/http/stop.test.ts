/** The end of a server, seen by whoever has a connection. */

import { expect, test } from 'bun:test';
import { startTestApp } from '../support/app.ts';
import { open } from '../support/socket.ts';
import { until } from '../support/until.ts';

test('a connection that is open is answered once more, and told that it was the last time', async () => {
  const app = await startTestApp();
  const request = 'GET /api/list-install HTTP/1.1\r\nhost: localhost\r\n\r\n';
  const { received, socket, closed } = await open(Number(new URL(app.url).port), request);
  const answers = () => received().split('HTTP/1.1 200').length - 1;
  await until('the first answer is there', () => answers() === 1);
  expect(received()).not.toMatch(/connection: close/i);
  const stopped = app.server.stop(60_000);
  socket.write(request);
  await closed;
  expect(answers()).toBe(2);
  expect(received()).toMatch(/connection: close/i);
  void stopped;
  await app.close();
});
