/** The client in a process of its own: what it prints, and what the environment does to it. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';

const SECRET = 'secret-of-the-path';
let servers: StrictServers;
beforeAll(async () => {
  servers = await startStrictServers();
});
afterAll(() => servers.stop());

async function run(urls: string[], env: Record<string, string> = {}) {
  const fixture = join(import.meta.dir, 'alone.fixture.ts');
  const child = Bun.spawn([process.execPath, fixture, servers.caFile, ...urls], {
    stdout: 'pipe',
    stderr: 'pipe',
    // Calls of this process changed its own.
    env: { ...process.env, no_proxy: undefined, ...env },
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(await child.exited).toBe(0);
  const [ends = '', direct = ''] = stdout.split('\n');
  return { ends: ends.split(' '), direct: direct.split(','), stderr };
}

test('nothing is printed, whatever goes wrong', async () => {
  await servers.behave('fcm', { next: [{ kind: 'reset-connection' }, { kind: 'reset-stream' }] });
  const { ends, stderr } = await run([
    `${servers.origin('fcm')}/${SECRET}`,
    `${servers.origin('otherName')}/${SECRET}`,
    `${servers.silentOrigin}/${SECRET}`,
    `https://127.0.0.1:1/${SECRET}`,
  ]);
  expect(stderr).toBe('');
  expect(ends).toEqual([
    ...['reset', '200', 'tls', 'tls', 'timeout', 'timeout', 'unreachable', 'unreachable'],
  ]);
});

test('a proxy that the environment names is not used', async () => {
  let visits = 0;
  const proxy = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  const lower = { https_proxy: url, http_proxy: url, no_proxy: 'a.example.com' };
  const upper = { HTTPS_PROXY: url, HTTP_PROXY: url, NO_PROXY: 'b.example.com' };
  for (const [env, own] of [
    [lower, lower.no_proxy],
    [upper, upper.NO_PROXY],
    [{ ...lower, ...upper }, lower.no_proxy],
  ] as const) {
    const { ends, direct } = await run([`${servers.origin('fcm')}/x`], env);
    // The operator's own stay.
    expect(direct).toEqual([own, expect.any(String)]);
    expect(ends).toEqual([expect.stringMatching(/^4/), expect.stringMatching(/^4/)]);
  }
  expect(visits).toBe(0);
  proxy.close();
});
