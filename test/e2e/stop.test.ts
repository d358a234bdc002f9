/** The end of the executable: exit 0 in time and with the database closed, whatever runs. */

import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startAcmeServer } from '../support/acme-server.ts';
import {
  addProviderByCommand,
  binary,
  plainEnv,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const IN_ORDER = { code: 0, signal: null };

test('while a write waits for another process: it is refused and told so', async () => {
  const server = await startServe();
  const { code, authKey } = await addProviderByCommand(server.dataDir);
  const other = new Database(join(server.dataDir, 'gatepost.db'), { strict: true });
  other.run('BEGIN IMMEDIATE');
  const query = `provider_code=${code}&auth_key=${authKey}&install_code=ABCDEFGH1234&install_limit=1`;
  const answer = fetch(`${server.url}/api/add-install?${query}`).then((response) =>
    response.json(),
  );
  // By the time this is answered, the other one has long been sent.
  await fetch(`${server.url}/api/list-install?provider_code=${code}&auth_key=${authKey}`);
  const end = server.stop();
  expect(await answer).toEqual({ rc: 0, msg: 'Unknown error' });
  other.run('ROLLBACK');
  expect(await end).toEqual(IN_ORDER);
  expect(server.stderr()).toContain(`warn database_busy problem="process ${process.pid} (`);
  expect(server.stderr()).not.toContain('\n    at ');
  expect(server.stderr()).toContain(' warn stop_late parts=');
  expect(server.stderr()).toMatch(/ info stopped ms=\d{4}\n$/);
  other.close();
});

test('while it still waits for its first certificate, with a hook that runs', async () => {
  const folder = temporaryFolder();
  const [hook, pidFile] = [join(folder, 'hook'), join(folder, 'pid')];
  writeFileSync(hook, `#!/bin/sh\necho $$ > ${pidFile}\nsleep 300\n`);
  chmodSync(hook, 0o700);
  const authority = await startAcmeServer();
  const child = Bun.spawn([binary(), 'serve', '--port', '0', '--data', join(folder, 'data')], {
    env: plainEnv({
      GATEPOST_ACME_DOMAINS: 'gate.example.com',
      GATEPOST_ACME_DIRECTORY: authority.directory,
      GATEPOST_ACME_CHALLENGE: 'dns-01',
      GATEPOST_ACME_DNS_HOOK: hook,
    }),
    stdout: 'ignore',
    stderr: 'pipe',
  });
  await until('the hook', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
  const pid = readFileSync(pidFile, 'utf8').trim();
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
  await until('the end of the hook', () => !existsSync(`/proc/${pid}/exe`));
  expect(existsSync(join(folder, 'data', 'gatepost.db-wal'))).toBe(false);
  expect(await new Response(child.stderr).text()).not.toContain(' error ');
  await authority.stop();
});

test('with a drain: it serves on while it is not ready, and a second order ends that', async () => {
  const server = await startServe({
    env: { GATEPOST_DRAIN_SECONDS: '300', GATEPOST_MONITOR_PORT: '0' },
  });
  const { code, authKey } = await addProviderByCommand(server.dataDir);
  const ready = async () => (await fetch(`${server.monitorUrl}/readyz`)).status;
  expect(await ready()).toBe(200);
  process.kill(server.pid, 'SIGTERM');
  await until('it is not ready', async () => (await ready()) === 503);
  const query = `provider_code=${code}&auth_key=${authKey}&install_code=ABCDEFGH1234&install_limit=1`;
  const answer = await fetch(`${server.url}/api/add-install?${query}`);
  expect(await answer.json()).toMatchObject({ rc: 1 });
  // It is to come back by another node.
  expect(answer.headers.get('connection')).toBe('close');
  expect(server.stderr()).toContain(' info draining seconds=300');
  expect(server.stderr()).not.toContain(' stopping');
  expect(await server.stop('SIGINT')).toEqual(IN_ORDER);
  expect(server.stderr()).toMatch(/ info stopped ms=\d+\n$/);
});

test('not by SIGUSR1 or SIGUSR2, which other programs send', async () => {
  const server = await startServe();
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
    process.kill(server.pid, signal);
    expect((await fetch(`${server.url}/api/list-install`)).status).toBe(200);
  }
  expect(await server.stop()).toEqual(IN_ORDER);
});
