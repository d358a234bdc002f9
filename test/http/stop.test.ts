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

test('no connection that was made is reset: it is answered, or it is not made', async () => {
  const app = await startTestApp();
  const port = Number(new URL(app.url).port);
  const outcomes = new Map<string, number>();
  const callers = Array.from({ length: 32 }, async () => {
    for (;;) {
      const outcome = await callOnce(port);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (outcome !== 'answered') return;
    }
  });
  await until('calls are answered', () => (outcomes.get('answered') ?? 0) > 100);
  await app.server.stop(50);
  await Promise.all(callers);
  expect(outcomes).toEqual(
    new Map([
      ['answered', outcomes.get('answered') ?? 0],
      ['not made', 32],
    ]),
  );
  await app.close();
});

/** One call on a connection of its own. */
function callOnce(port: number): Promise<'answered' | 'not made' | 'reset'> {
  return new Promise((resolve) => {
    let isAnswered = false;
    const end = () => resolve(isAnswered ? 'answered' : 'reset');
    Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        open: (socket) => {
          const head = 'GET /api/list-install HTTP/1.1\r\nhost: localhost\r\n';
          socket.write(`${head}connection: close\r\n\r\n`);
        },
        data: (socket, data) => {
          isAnswered ||= data.toString().startsWith('HTTP/1.1 200');
          if (isAnswered) socket.end();
        },
        close: end,
        error: end,
      },
    }).catch(() => resolve('not made'));
  });
}
