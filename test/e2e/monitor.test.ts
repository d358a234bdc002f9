/** Probes and metrics of the executable: on a disk without room, at the end, beside another one. */

import { expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testWith } from '../support/needs.ts';
import {
  addProviderByCommand,
  binary,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { lint, parseMetrics, seriesValue } from '../support/prometheus.ts';
import { open } from '../support/socket.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const MONITORED = { GATEPOST_MONITOR_PORT: '0' };

async function ready(server: ServerProcess): Promise<{ status: number; reason?: string }> {
  const response = await fetch(`${server.monitorUrl}/readyz`);
  const { reason } = (await response.json()) as { reason?: string };
  return { status: response.status, ...(reason !== undefined && { reason }) };
}

async function scrape(server: ServerProcess) {
  const text = await (await fetch(`${server.monitorUrl}/metrics`)).text();
  expect(lint(text)).toBe('');
  return parseMetrics(text);
}

test('the executable tells of itself what Prometheus can read', async () => {
  const server = await startServe({ env: MONITORED });
  await fetch(`${server.url}/api/list-install`);
  expect(await (await fetch(`${server.monitorUrl}/healthz`)).text()).toBe('ok\n');
  expect(await ready(server)).toEqual({ status: 200 });
  const labels = { endpoint: '/api/list-install', answer: 'auth_error' };
  const families = await scrape(server);
  expect(seriesValue(families, 'gatepost_requests_total', labels)).toBe(1);
  expect(seriesValue(families, 'process_resident_memory_bytes')).toBeGreaterThan(1e7);
  await until('the event loop to be watched', async () => {
    const lag = seriesValue(await scrape(server), 'gatepost_event_loop_lag_seconds_count');
    return lag > 0;
  });
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(server.stderr()).toMatch(/ info started .*monitor=http.*\n.* info stopping\n.* stopped /);
});

testWith('prlimit')(
  'a disk without room is noticed, and so is that it has room again',
  async () => {
    // Instead of a full disk: files of this process alone may not grow.
    const executable = join(temporaryFolder(), 'gatepost');
    writeFileSync(executable, `#!/bin/sh\ntrap '' XFSZ\nexec '${binary()}' "$@"\n`);
    chmodSync(executable, 0o700);
    const server = await startServe({ executable, isPiped: true, env: MONITORED });
    const own = await addProviderByCommand(server.dataDir);
    const query = new URLSearchParams({ provider_code: own.code, auth_key: own.authKey });
    const add = async () => {
      const answer = await fetch(`${server.url}/api/add-install?${query}&install_limit=1`);
      return ((await answer.json()) as { msg: string }).msg;
    };
    const mayGrow = (bytes: string) =>
      Bun.spawnSync(['prlimit', '--pid', String(server.pid), `--fsize=${bytes}:unlimited`])
        .exitCode;

    expect(await add()).toBe('Ok');
    expect(await ready(server)).toEqual({ status: 200 });
    expect(mayGrow('1024')).toBe(0);
    await until('the full disk to be noticed', async () => (await ready(server)).status === 503);
    expect(await ready(server)).toEqual({ status: 503, reason: 'database_not_writable' });
    expect(await add()).toBe('Unknown error');
    // It lives, and says what is the matter.
    expect((await fetch(`${server.monitorUrl}/healthz`)).status).toBe(200);
    const failed = seriesValue(await scrape(server), 'gatepost_commits_total', {
      outcome: 'failed',
    });
    expect(failed).toBeGreaterThan(1);

    expect(mayGrow('unlimited')).toBe(0);
    await until('the room to be noticed', async () => (await ready(server)).status === 200);
    expect(await add()).toBe('Ok');
    await server.stop();
    expect(server.stderr()).toContain(' warn not_ready reason=database_not_writable');
    expect(server.stderr()).toContain(' info ready_again');
  },
);

test('with the order to stop it is not ready any more, and finishes what runs', async () => {
  const server = await startServe({ env: MONITORED });
  const body = '{"hwid":"a","os":"android"}';
  const length = `content-length: ${body.length}`;
  const head = `POST /device/register HTTP/1.1\r\nhost: h\r\n${length}\r\n\r\n`;
  const half = await open(server.port, head, body.slice(0, 5));
  const inHand = async () => {
    const labels = { endpoint: '/device/register', answer: 'ok' };
    return seriesValue(await scrape(server), 'gatepost_requests_total', labels);
  };
  await expect(inHand()).rejects.toThrow('there is no');
  const end = server.stop();
  await until('the stop', async () => (await ready(server)).reason === 'stopping');
  expect((await fetch(`${server.monitorUrl}/healthz`)).status).toBe(200);
  half.socket.write(body.slice(5));
  await until('the answer', () => half.received().includes('device_token'));
  expect(await end).toEqual({ code: 0, signal: null });
});

test('an address of the monitor that is taken is refused if it was chosen, else another one', async () => {
  const first = await startServe({ env: MONITORED });
  const port = new URL(first.monitorUrl).port;
  const words = ['serve', '--port', '0', '--data', join(temporaryFolder(), 'data')];
  expect(await run(words, { env: { GATEPOST_MONITOR_PORT: port } })).toEqual({
    code: 1,
    stdout: '',
    stderr: `gatepost: cannot listen on 127.0.0.1:${port} for the monitor: the port is taken\n`,
  });

  // Whoever has the usual port, it is taken now.
  const holder = await startServe({ env: { GATEPOST_MONITOR_PORT: '' } });
  const second = await startServe({ env: { GATEPOST_MONITOR_PORT: '' } });
  expect(await ready(second)).toEqual({ status: 200 });
  expect(second.troubles().join('\n')).toMatch(/ warn monitor_moved .*the port is taken/);
  // Each is found by its own data, whoever has the usual port.
  for (const server of [holder, second]) {
    const asked = await run(['ready', '--data', server.dataDir], {
      env: { GATEPOST_MONITOR_PORT: '' },
    });
    expect(asked).toEqual({ code: 0, stdout: 'ready\n', stderr: '' });
  }
  await Promise.all([first.stop(), holder.stop(), second.stop()]);
});
