/** The monitor's listener: what it answers, and what it does when its address is taken. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { makeLog } from '../../src/base/log.ts';
import { OperatorError } from '../../src/base/operator-error.ts';
import type { Readiness } from '../../src/monitor/readiness.ts';
import {
  type MonitorOptions,
  type RunningMonitor,
  startMonitor,
} from '../../src/monitor/server.ts';
import { open } from '../support/socket.ts';
import { until } from '../support/until.ts';

let lines: string[];
let running: RunningMonitor[];
let problem: Awaited<ReturnType<Readiness['problem']>>;
let text: () => Promise<string>;

beforeEach(() => {
  lines = [];
  running = [];
  problem = null;
  text = async () => 'metrics\n';
});
afterEach(() => Promise.all(running.map((monitor) => monitor.stop())));

function start(more: Partial<MonitorOptions> = {}): RunningMonitor {
  const log = makeLog(
    { logFormat: 'human', logLevel: 'info' },
    () => 0,
    (line) => lines.push(line),
  );
  const readiness = { problem: async () => problem } as Readiness;
  const metrics = { contentType: 'text/plain; version=0.0.4', text: () => text() };
  const address = { host: '127.0.0.1', port: 0, isChosen: false, identity: 'abcd' };
  const options = { ...address, readiness, metrics, log };
  const monitor = startMonitor({ ...options, ...more });
  running.push(monitor);
  return monitor;
}

async function get(path: string, init: RequestInit = {}) {
  const monitor = running[0] ?? start();
  const response = await fetch(`${monitor.url}${path}`, init);
  const { status, headers } = response;
  // A cache between would say that it is ready when it is not.
  expect(headers.get('cache-control')).toBe('no-store');
  return { status, body: await response.text(), type: headers.get('content-type') };
}

describe('the monitor', () => {
  test('/healthz says that the process lives', async () => {
    expect(await get('/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    expect(await get('/healthz?now', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  });

  test('/readyz says whether it is ready, and if not, why', async () => {
    expect(await get('/readyz')).toMatchObject({ status: 200, body: '{"ready":true}' });
    problem = { reason: 'stopping', detail: 'it ends' };
    const { status, body } = await get('/readyz');
    expect({ status, said: JSON.parse(body) }).toEqual({
      status: 503,
      said: { ready: false, reason: 'stopping', detail: 'it ends' },
    });
  });

  test('/readyz says of which data directory it is, ready or not', async () => {
    for (const state of [null, { reason: 'stopping', detail: 'it ends' }] as const) {
      problem = state;
      const response = await fetch(`${(running[0] ?? start()).url}/readyz`);
      expect(response.headers.get('x-gatepost-data')).toBe('abcd');
    }
  });

  test('/metrics says what its type is', async () => {
    expect(await get('/metrics')).toEqual({
      status: 200,
      body: 'metrics\n',
      type: 'text/plain; version=0.0.4',
    });
  });

  test('other paths and methods are refused', async () => {
    expect(await get('/')).toMatchObject({ status: 404 });
    expect(await get('/metrics/x')).toMatchObject({ status: 404 });
    expect(await get('/metrics', { method: 'POST', body: 'x' })).toMatchObject({ status: 405 });
  });

  test('a request without a Host is answered too', async () => {
    const port = Number(new URL(start().url).port);
    const { received, socket } = await open(port, 'GET /healthz HTTP/1.0\r\n\r\n');
    await until('it is answered', () => received().endsWith('ok\n'));
    socket.destroy();
  });

  test('a fault is logged, and nothing of it is answered', async () => {
    text = () => Promise.reject(new Error('secret reason'));
    const { status, body } = await get('/metrics');
    expect(status).toBe(500);
    expect(body).not.toContain('secret');
    expect(lines.join('')).toMatch(/^\S+ error monitor_fault .*secret reason/);
  });
});

describe('an address that is taken', () => {
  test('is a mistake if the operator chose it', () => {
    const port = Number(new URL(start().url).port);
    expect(() => start({ port, isChosen: true })).toThrow(
      new OperatorError(`cannot listen on 127.0.0.1:${port} for the monitor: the port is taken`),
    );
  });

  test('is a warning if it is the default, and another one is taken', async () => {
    const port = Number(new URL(start().url).port);
    const moved = start({ port });
    expect(moved.url).not.toEndWith(`:${port}`);
    expect((await fetch(`${moved.url}/healthz`)).status).toBe(200);
    expect(lines.join('')).toContain(`the port is taken" url=${moved.url}`);
    expect(lines.join('')).toContain('warn monitor_moved');
  });
});
