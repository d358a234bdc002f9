/** `gatepost ready`: what the monitor says is the exit code. */

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cleanUp, PATIENCE_MS, run } from '../support/process.ts';

setDefaultTimeout(2 * PATIENCE_MS);
afterAll(cleanUp);

/** Asks a monitor that gives this answer to everything. */
async function askOne(answer: () => Response) {
  const paths: string[] = [];
  const monitor = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      paths.push(new URL(request.url).pathname);
      return answer();
    },
  });
  try {
    // The address to listen on may be "any": it is asked on this machine.
    const env = { GATEPOST_MONITOR_HOST: '0.0.0.0', GATEPOST_MONITOR_PORT: `${monitor.port}` };
    return { ...(await run(['ready', '--config', 'none'], { env, from: 'source' })), paths };
  } finally {
    await monitor.stop(true);
  }
}

test('a server that is ready', async () => {
  expect(await askOne(() => new Response('ok\n'))).toEqual({
    code: 0,
    stdout: 'ready\n',
    stderr: '',
    paths: ['/readyz'],
  });
});

test('a server that is not ready: exit 1, with its words', async () => {
  const answer = () => new Response('database: not writable\n', { status: 503 });
  expect(await askOne(answer)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'gatepost: not ready: database: not writable\n',
    paths: ['/readyz'],
  });
});

test('nobody there, or a monitor that is off: exit 1', async () => {
  const taken = Bun.serve({ port: 0, fetch: () => new Response() });
  await taken.stop(true);
  const ready = (port: string) =>
    run(['ready', '--config', 'none'], { env: { GATEPOST_MONITOR_PORT: port }, from: 'source' });
  expect(await ready(`${taken.port}`)).toMatchObject({
    code: 1,
    stderr: `gatepost: not ready: nothing answers at http://127.0.0.1:${taken.port}/readyz\n`,
  });
  expect((await ready('off')).stderr).toContain('the monitor is off (monitor.port)');
});
