/** `gatepost ready`: what this data directory's own server says is the exit code. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  forgetMonitor,
  IDENTITY_HEADER,
  identityOf,
  notedMonitor,
  noteMonitor,
} from '../../src/base/whereabouts.ts';
import { runHere } from '../support/command-line.ts';
import { temporaryFolder } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

let dataDir: string;
let paths: string[];
const monitors: Bun.Server<undefined>[] = [];
beforeEach(() => {
  dataDir = temporaryFolder();
  paths = [];
});
afterEach(async () => {
  for (const monitor of monitors.splice(0)) await monitor.stop(true);
});

/** A monitor that says that it is of `folder`'s server, and gives this answer to everything. */
function monitorOf(folder: string | null, answer: () => Response): Bun.Server<undefined> {
  const monitor = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      paths.push(new URL(request.url).pathname);
      const response = answer();
      if (folder !== null) response.headers.set(IDENTITY_HEADER, identityOf(folder) ?? '');
      return response;
    },
  });
  monitors.push(monitor);
  return monitor;
}

/** The address to listen on may be "any": it is asked on this machine. */
function ready(port: number | string) {
  const env = { GATEPOST_MONITOR_HOST: '0.0.0.0', GATEPOST_MONITOR_PORT: `${port}` };
  return runHere(['ready', '--config', 'none', '--data', dataDir], { env });
}

const isReady = () => new Response('ok\n');
const READY = { code: 0, stdout: 'ready\n', stderr: '' };

test('a server that is ready', async () => {
  expect(await ready(monitorOf(dataDir, isReady).port ?? 0)).toEqual(READY);
  expect(paths).toEqual(['/readyz']);
});

test('a server that is not ready: exit 1, with its words', async () => {
  const notReady = () => new Response('database: not writable\n', { status: 503 });
  expect(await ready(monitorOf(dataDir, notReady).port ?? 0)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'gatepost: not ready: database: not writable\n',
  });
});

test('another server on the usual port: exit 1 for any answer', async () => {
  for (const folder of [null, temporaryFolder()]) {
    const { port } = monitorOf(folder, isReady);
    const { code, stderr } = await ready(port ?? 0);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `gatepost: not ready: no server runs on ${dataDir}: ` +
        `another server answers at http://127.0.0.1:${port}/readyz, or an older version\n`,
    );
  }
});

test('a server whose usual port was taken is found where it said that it listens', async () => {
  const other = monitorOf(null, isReady);
  const { port } = monitorOf(dataDir, isReady);
  noteMonitor(dataDir, `http://127.0.0.1:${port}`);
  expect(await ready(other.port ?? 0)).toEqual(READY);
  // The settings of who asks may be others than those of the server.
  expect(await ready('off')).toEqual(READY);
});

test('the address that a killed server noted is harmless', async () => {
  noteMonitor(dataDir, `http://127.0.0.1:${monitorOf(null, isReady).port}`);
  expect((await ready('off')).stderr).toContain('another server answers');
  expect(await ready(monitorOf(dataDir, isReady).port ?? 0)).toEqual(READY);
  writeFileSync(join(dataDir, 'gatepost.monitor'), 'file:///etc/passwd\n');
  expect(notedMonitor(dataDir)).toBeNull();
});

test('no server, a monitor that is off, or no such directory: exit 1', async () => {
  const gone = monitorOf(dataDir, isReady);
  const { port } = gone;
  await gone.stop(true);
  const noAnswer = `no answer from http://127.0.0.1:${port}/readyz`;
  expect(await ready(port ?? 0)).toEqual({
    code: 1,
    stdout: '',
    stderr: `gatepost: not ready: no server runs on ${dataDir}: ${noAnswer}\n`,
  });
  expect((await ready('off')).stderr).toContain('the monitor is off (monitor.port)');
  dataDir = join(dataDir, 'none');
  expect((await ready('off')).stderr).toBe(`gatepost: not ready: ${dataDir} does not exist\n`);
});

test('a note is taken back by the one whose it is, and leaves nothing', () => {
  noteMonitor(dataDir, 'http://127.0.0.1:1');
  noteMonitor(dataDir, 'http://127.0.0.1:2');
  forgetMonitor(dataDir, 'http://127.0.0.1:1');
  expect(notedMonitor(dataDir)).toBe('http://127.0.0.1:2');
  forgetMonitor(dataDir, 'http://127.0.0.1:2');
  expect(readdirSync(dataDir)).toEqual([]);
  expect(existsSync(join(dataDir, 'gatepost.monitor.new'))).toBe(false);
});
