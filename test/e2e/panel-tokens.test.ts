/** Tokens that a panel signs, at the executable: a race at two processes, a secret that changes. */

import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hostHash } from '../../src/core/host-name.ts';
import { call } from '../support/app.ts';
import { startPanel } from '../support/panel.ts';
import {
  addProviderByCommand,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { bind, expectOk } from '../support/shop.ts';
import {
  digestToken,
  OTHER_SECRET,
  PASARGUARD_FORMS,
  panelOf,
  SECRET,
} from '../support/signing-panel.ts';
import { until } from '../support/until.ts';
import { exchange, HOST } from '../support/upstream.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const NOW_S = 1_767_225_600;

test('of 200 new devices with as many tokens of one user three get in, at two processes', async () => {
  const panel = await startPanel(panelOf((user) => user === '7'));
  const dataDir = join(temporaryFolder(), 'data');
  const { code: provider } = await addProviderByCommand(dataDir);
  const upstream = { host: HOST, url: panel.url, provider, default_limit: 3, key: 'pasarguard' };
  const env = { GATEPOST_GATE_UPSTREAM: JSON.stringify([upstream]) };
  const servers = [await startServe({ dataDir, env }), await startServe({ dataDir, env })];
  const statuses = await Promise.all(
    Array.from({ length: 200 }, async (_, count) => {
      const make = PASARGUARD_FORMS[count % PASARGUARD_FORMS.length];
      const token = make?.('7', NOW_S + count, count % 10 === 9 ? OTHER_SECRET : SECRET);
      const { port } = servers[count % 2] as ServerProcess;
      const { status } = await exchange(port, 'GET', `/sub/${token}`, { 'x-hwid': `p-${count}` });
      return status;
    }),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(3);
  const shown = await run(['link', 'show', 'key:pasarguard/7', '--json', '--data', dataDir]);
  expect(JSON.parse(shown.stdout)).toMatchObject({
    install_count: 3,
    install_limit: 3,
    has_subscription_key: true,
    note: `${HOST} 7`,
  });
  expect(servers.map((server) => server.troubles())).toEqual([[], []]);
  await panel.stop();
});

test('a secret is read again on SIGHUP; a bad one changes nothing', async () => {
  const folder = temporaryFolder();
  const secret = join(folder, 'panel-secret');
  const keep = (text: string) => writeFileSync(secret, `${text}\n`, { mode: 0o600 });
  keep(SECRET);
  const file = join(folder, 'gatepost.toml');
  const gate = [`key = "marzban"`, `key_secret_file = "${secret}"`];
  writeFileSync(file, ['[gate]', ...gate, 'proxies = ["127.0.0.1"]'].join('\n'));
  const server = await startServe({
    args: ['--config', file],
    env: { GATEPOST_TRUSTED_PROXIES: '127.0.0.1' },
  });
  const own = await addProviderByCommand(server.dataDir);
  await bind(server, own, hostHash(HOST));
  const link = { install_limit: 9, subscription_key: 'marzban/bob' };
  await expectOk(call(server, '/api/add-install', own, link));
  const ask = async (token: string) => {
    const uri = { 'x-original-uri': `/sub/${token}`, 'x-forwarded-host': HOST };
    return (await fetch(`${server.url}/gate`, { headers: { ...uri, 'x-hwid': 'a' } })).status;
  };
  const both = async () => [
    await ask(digestToken(`bob,${NOW_S}`)),
    await ask(digestToken(`bob,${NOW_S}`, OTHER_SECRET)),
  ];
  const reload = async (said: string) => {
    const reloads = () => server.stderr().split(said).length;
    const before = reloads();
    process.kill(server.pid, 'SIGHUP');
    await until(said, () => reloads() > before);
  };
  expect(await both()).toEqual([204, 403]);
  keep('too-short');
  await reload('config_not_reloaded');
  expect(server.stderr()).not.toContain('too-short');
  expect(await both()).toEqual([204, 403]);
  keep(OTHER_SECRET);
  await reload('config_reloaded');
  expect(await both()).toEqual([403, 204]);

  writeFileSync(file, '[gate]\nkey = "marzban"\n');
  const refused = await run(['serve', '--config', file, '--data', server.dataDir]);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('gate.key = "marzban" needs gate.key_secret_file'),
  ]);
});
