/**
 * Upstreams that an operator keeps in the database, at the executable: beside those of the file
 * through SIGHUP and restarts, and at each node of a PostgreSQL.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConsoleBrowser } from '../support/console.ts';
import { addProvider, siteOf } from '../support/console-served.ts';
import { testPostgres } from '../support/needs.ts';
import { freshDatabase } from '../support/postgres-data.ts';
import { run, type ServerProcess, startServe, temporaryFolder } from '../support/process.ts';
import { type SmallPanel, startSmallPanel } from '../support/small-panel.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const KEPT = 'kept.example.org';
let panel: SmallPanel;
beforeAll(() => {
  panel = startSmallPanel();
});
afterAll(() => panel.stop());

/** The browser of an operator; `env` as of the server. */
async function operatorOf(server: ServerProcess, env = {}): Promise<ConsoleBrowser> {
  const site = siteOf(server);
  const words = ['console', 'link', '--data', server.dataDir, '--url', site, '--json'];
  const { link } = JSON.parse((await run(words, { env })).stdout) as { link: string };
  const browser = new ConsoleBrowser(site);
  await browser.get('session.entry', { secret: link.split('entry=')[1] ?? '' });
  return browser;
}

const keysOf = (host: string, provider: string) => ({
  host,
  url: `http://127.0.0.1:${panel.port}`,
  provider,
  default_limit: 3,
});
const kept = (provider: string) => ({ keys: keysOf(KEPT, provider), more: '', isNew: true });

/** Fetches a subscription as an app does; returns the status. */
const fetchBy = async (server: ServerProcess, host: string, hwid: string) =>
  (await fetch(`${siteOf(server)}/sub/known`, { headers: { host, 'x-hwid': hwid } })).status;

test('what is kept is in force beside the file, through SIGHUP and restarts, until it is removed', async () => {
  const file = join(temporaryFolder(), 'gatepost.toml');
  writeFileSync(file, '');
  const start = (dataDir?: string) =>
    startServe({ args: ['--config', file], ...(dataDir && { dataDir }) });
  let server = await start();
  const { dataDir } = server;
  const { code } = await addProvider(server);
  const reload = async (...tables: Record<string, unknown>[]) => {
    const lines = tables.map((keys) =>
      Object.entries(keys).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
    );
    writeFileSync(
      file,
      lines.map((keys) => ['[[gate.upstream]]', ...keys, ''].join('\n')).join(''),
    );
    const reloads = () => server.stderr().split('reloaded').length;
    const before = reloads();
    process.kill(server.pid, 'SIGHUP');
    await until('the file is read again', () => reloads() > before);
  };
  let operator = await operatorOf(server);
  expect(await fetchBy(server, KEPT, 'a')).toBe(404);
  expect(await operator.get('upstreams.put', kept(code))).toBe('ok');
  expect(await fetchBy(server, KEPT, 'a')).toBe(200);

  await reload(keysOf('file.example.org', code));
  await until('the host is bound', async () => {
    return (await fetchBy(server, 'file.example.org', 'a')) === 200;
  });
  expect(await fetchBy(server, KEPT, 'a')).toBe(200);

  // The file goes before, for as long as it has the host.
  await reload({ ...keysOf(KEPT, code), browsers: 'refuse', refused_status: 451 });
  expect(await fetchBy(server, KEPT, '')).toBe(451);
  expect((await operator.get('upstreams.list', {})).kept).toMatchObject([{ isInForce: false }]);
  await reload();
  expect(await fetchBy(server, KEPT, '')).toBe(404);
  expect(await fetchBy(server, KEPT, 'a')).toBe(200);
  expect((await operator.get('upstreams.list', {})).kept).toMatchObject([{ isInForce: true }]);

  await server.stop();
  server = await start(dataDir);
  expect(await fetchBy(server, KEPT, 'a')).toBe(200);
  operator = await operatorOf(server);
  expect(await operator.get('upstreams.list', {})).toMatchObject({ own: [], kept: [{}] });
  expect(await operator.get('upstreams.remove', { host: KEPT })).toBe('ok');
  expect(await fetchBy(server, KEPT, 'a')).toBe(404);
  await reload(keysOf('file.example.org', code));
  expect(await fetchBy(server, KEPT, 'a')).toBe(404);
  expect(server.troubles()).toEqual([]);
});

testPostgres('what one node keeps or removes is so at the other within seconds', async () => {
  const database = await freshDatabase();
  const env = { GATEPOST_DATABASE_URL: database.url };
  const one = await startServe({ env });
  const two = await startServe({ env: { ...env, GATEPOST_DATABASE_NODE: 'two' } });
  try {
    const operator = await operatorOf(one, env);
    const given = { name: 'Northwind', plan: 'enterprise' } as const;
    const { code } = await operator.get('providers.add', given);
    expect(await operator.get('upstreams.put', kept(code))).toBe('ok');
    await until('the other node has it', async () => (await fetchBy(two, KEPT, 'a')) === 200);
    expect(await operator.get('upstreams.remove', { host: KEPT })).toBe('ok');
    await until('the other node has it no more', async () => {
      return (await fetchBy(two, KEPT, 'a')) === 404;
    });
  } finally {
    await Promise.all([one.stop(), two.stop()]);
    await database.drop();
  }
});
