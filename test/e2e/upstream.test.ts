/** The executable in front of a panel: its start, its reload, processes together, kills, memory. */

import { afterEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import { call } from '../support/app.ts';
import { selfSigned } from '../support/certificate.ts';
import { answer, behaveWell, MADE_UP, type Panel, startPanel } from '../support/panel.ts';
import {
  addProviderByCommand,
  residentMib,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { IS_LONG } from '../support/scale.ts';
import { until } from '../support/until.ts';
import { exchange, HOST, KEY, sendRaw } from '../support/upstream.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const panels: Panel[] = [];
afterEach(async () => {
  for (const panel of panels.splice(0)) await panel.stop();
});

async function openPanel(...from: Parameters<typeof startPanel>): Promise<Panel> {
  const panel = await startPanel(...from);
  panels.push(panel);
  return panel;
}

interface Site {
  dataDir: string;
  own: Credentials;
  env: Record<string, string>;
}

/** A data directory with a provider, and the variable that puts the panel behind {@link HOST}. */
async function makeSite(panel: Panel, more: Record<string, unknown> = {}): Promise<Site> {
  const dataDir = join(temporaryFolder(), 'data');
  const own = await addProviderByCommand(dataDir);
  const upstream = { host: HOST, url: panel.url, provider: own.code, default_limit: 3, ...more };
  return { dataDir, own, env: { GATEPOST_GATE_UPSTREAM: JSON.stringify([upstream]) } };
}

const get = (server: ServerProcess, path: string, hwid: string, headers = {}) =>
  exchange(server.port, 'GET', path, { 'x-hwid': hwid, ...headers });

async function listLinks(server: ServerProcess, own: Credentials) {
  const { json } = await call(server, '/api/list-install', own);
  return json.data as { install_code: string; install_count: number; note: string }[];
}

test('serve binds the host of a panel, and leaves a binding that is disabled', async () => {
  const panel = await openPanel();
  const { dataDir, own, env } = await makeSite(panel);
  let server = await startServe({ dataDir, env });
  expect((await get(server, `/sub/${KEY}`, 'a')).status).toBe(200);
  const { json } = await call(server, '/api/list-domain', own);
  expect(json.data).toMatchObject([{ domain_name: HOST, status: 10 }]);
  await call(server, '/api/delete-domain', own, { id: json.data[0].id });
  await server.stop();

  server = await startServe({ dataDir, env });
  const [trouble = '', ...others] = server.troubles();
  expect(trouble).toContain(`upstream_binding_disabled host=${HOST} provider=${own.code}`);
  expect(others).toEqual([]);
  expect((await get(server, `/sub/${KEY}`, 'a')).status).toBe(404);
});

test('a provider that is not there is told, and SIGHUP takes up what was mended', async () => {
  const panel = await openPanel();
  const { dataDir, own } = await makeSite(panel);
  const file = join(temporaryFolder(), 'gatepost.toml');
  const write = (provider: string, host: string) =>
    writeFileSync(
      file,
      `[[gate.upstream]]\nhost = "${host}"\nurl = "${panel.url}"\nprovider = "${provider}"\ndefault_limit = 1\n`,
    );
  write('Nobody00', HOST);
  const server = await startServe({ dataDir, args: ['--config', file] });
  expect(server.troubles()).toEqual([
    expect.stringContaining(`upstream_provider_unknown host=${HOST} provider=Nobody00`),
  ]);
  expect((await get(server, `/sub/${KEY}`, 'a')).status).toBe(404);

  write(own.code, 'new.example.org');
  process.kill(server.pid, 'SIGHUP');
  await until('the new host is bound', () => server.stderr().includes('upstream_bound'));
  const got = await get(server, `/sub/${KEY}`, 'a', { Host: 'new.example.org' });
  expect(got.status).toBe(200);
  expect((await get(server, `/sub/${KEY}`, 'a')).body).toBe('Not found\n');
});

test('an answer that breaks off leaves one line in the log, without a path', async () => {
  // A stranger's key, which Gatepost asks for before a first link, has an answer.
  const panel = await openPanel(({ target, send }) =>
    send(
      target.includes(KEY)
        ? 'HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\nabc'
        : answer(404, ''),
    ),
  );
  const { dataDir, env } = await makeSite(panel);
  const server = await startServe({ dataDir, env });
  const begun = new Set<string>();
  const got = await Promise.all(
    ['a', 'b', 'c'].map((hwid) => {
      const head = `GET /sub/${KEY} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n`;
      let soFar = '';
      return sendRaw(server.port, `${head}x-hwid: ${hwid}\r\n\r\n`, false, (part) => {
        soFar += part.toString('latin1');
        if (soFar.includes('abc')) begun.add(hwid);
        // Each has the beginning: the panel breaks off.
        if (begun.size === 3) for (const { socket } of panel.calls) socket.destroy();
      });
    }),
  );
  expect(got.map(({ body, isWhole }) => [body, isWhole])).toEqual(Array(3).fill(['abc', false]));
  await server.stop();
  expect(server.troubles()).toEqual([
    expect.stringContaining('kind=upstream_away code=CUT count=1'),
  ]);
  expect(server.stderr()).not.toContain('/sub');
  expect(server.stderr()).not.toContain(KEY);
});

test('a panel is asked over TLS by the name in its URL, and by no other', async () => {
  const right = await selfSigned('right');
  const wrong = await selfSigned('wrong', { names: ['panel.example.org'] });
  const [told, ca]: [(string | null)[], string] = [[], join(temporaryFolder(), 'ca.pem')];
  writeFileSync(ca, `${right.cert}${wrong.cert}`);
  const servers = [right, wrong].map((tls) =>
    Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls,
      fetch: ({ headers, url }) => {
        if (MADE_UP.test(new URL(url).pathname)) return new Response(null, { status: 404 });
        told.push(headers.get('host'));
        return new Response('ok');
      },
    }),
  );
  const panel = await openPanel();
  const { dataDir, own } = await makeSite(panel);
  const names = ['localhost', '127.0.0.1', 'localhost'];
  const upstreams = names.map((name, at) => ({
    host: `host-${at}.example.org`,
    provider: own.code,
    default_limit: 3,
    url: `https://${name}:${servers[at === 2 ? 1 : 0]?.port}`,
  }));
  const env = { GATEPOST_GATE_UPSTREAM: JSON.stringify(upstreams), NODE_EXTRA_CA_CERTS: ca };
  const server = await startServe({ dataDir, env });
  const got = await Promise.all(
    upstreams.map(({ host }) => get(server, `/sub/${KEY}`, 'a', { Host: host })),
  );
  for (const each of servers) await each.stop(true);
  expect(got.map(({ status }) => status)).toEqual([200, 200, 502]);
  expect(told.toSorted()).toEqual(['host-0.example.org', 'host-1.example.org']);
  expect(server.troubles()).toEqual([
    expect.stringContaining('kind=upstream_away code=ERR_TLS_CERT_ALTNAME_INVALID'),
  ]);
});

test('many devices on a limit of 7, through two processes: seven get in, ever', async () => {
  const panel = await openPanel();
  const { dataDir, own, env } = await makeSite(panel, { default_limit: 7 });
  const servers = [await startServe({ dataDir, env }), await startServe({ dataDir, env })];
  const everybody = Array.from({ length: IS_LONG ? 200 : 60 }, (_, count) => `phone-${count}`);
  for (const round of [1, 2]) {
    const got = await Promise.all(
      everybody.map((hwid, count) =>
        get(servers[(count + round) % 2] as ServerProcess, `/sub/${KEY}`, hwid),
      ),
    );
    expect(got.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(got.filter(({ status }) => status === 404)).toHaveLength(everybody.length - 7);
  }
  expect(await listLinks(servers[0] as ServerProcess, own)).toMatchObject([{ install_count: 7 }]);
});

test('killed in the middle: no link without a slot, no slot beyond the limit', async () => {
  const panel = await openPanel();
  const { dataDir, own, env } = await makeSite(panel, { default_limit: 2 });
  const served = new Map<string, Set<string>>();
  for (let round = 0; round < (IS_LONG ? 3 : 1); round++) {
    const server = await startServe({ dataDir, env });
    let count = 0;
    const traffic = Array.from({ length: 200 }, async (_, at) => {
      const [key, hwid] = [`key-of-round-${round}-${at % 60}`, `phone-${at % 5}`];
      const { status } = await get(server, `/sub/${key}`, hwid);
      if (status === 200) served.set(key, (served.get(key) ?? new Set()).add(hwid));
      count += 1;
      if (count === 60) await server.stop('SIGKILL');
    });
    await Promise.all(traffic);
  }
  const server = await startServe({ dataDir, env });
  const links = await listLinks(server, own);
  expect(links.length).toBeGreaterThan(10);
  for (const { install_count: count } of links) {
    expect(count).toBeGreaterThanOrEqual(1);
    expect(count).toBeLessThanOrEqual(2);
  }
  // Who was served has a slot, and has it still.
  for (const [key, hwids] of served) {
    expect(hwids.size).toBeLessThanOrEqual(2);
    for (const hwid of hwids) expect((await get(server, `/sub/${key}`, hwid)).status).toBe(200);
  }
  expect((await listLinks(server, own)).length).toBe(links.length);
});

test('answers that nobody reads take no memory', async () => {
  const piece = Buffer.alloc(1_000_000, 'x');
  const panel = await openPanel(async (asked) => {
    const { send, socket, target } = asked;
    if (target.startsWith('/sub/small') || MADE_UP.test(target)) return behaveWell(asked);
    await send('HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n');
    for (let count = 0; count < 50 && !socket.destroyed; count++) await send(piece);
  });
  const { dataDir, env } = await makeSite(panel, { default_limit: 100 });
  const server = await startServe({ dataDir, env });
  await get(server, '/sub/small', 'a');
  const beforeMib = await residentMib(server.pid);
  const leaving = new AbortController();
  const headers = { host: HOST, 'x-hwid': 'a' };
  const { signal } = leaving;
  // Each has had its head, and reads no further: 2 GB wait for them at the panel.
  const held = await Promise.all(
    Array.from({ length: 40 }, (_, count) =>
      fetch(`${server.url}/sub/long-key-${count}`, { headers, signal }),
    ),
  );
  expect(held.map(({ status }) => status)).toEqual(Array(40).fill(200));
  expect((await residentMib(server.pid)) - beforeMib).toBeLessThan(120);
  leaving.abort();
  await until('the panel is left', () => panel.openCount() <= 1);
  expect((await get(server, '/sub/small', 'a')).status).toBe(200);
});

test('the server stops in time while a panel hangs', async () => {
  const panel = await openPanel(({ target, send }) =>
    target === '/sub/hangs' ? undefined : send(answer(200, 'ok')),
  );
  const { dataDir, env } = await makeSite(panel);
  const server = await startServe({ dataDir, env });
  const got = get(server, '/sub/hangs', 'a');
  await until('the panel is asked', () => panel.calls.length === 1);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect((await got).status).toBe(504);
  expect(server.troubles()).toEqual([expect.stringContaining('kind=upstream_slow')]);
});
