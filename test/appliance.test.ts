/** Checks that the server runs beside itself for the operator's pages. */

import { describe, expect, test } from 'bun:test';
import { Histogram } from '../src/base/counts.ts';
import { makeLog } from '../src/base/log.ts';
import { auditCheckIn, checkup, findingsIn, lagOf } from '../src/parts/appliance.ts';
import type { Ended } from '../src/parts/own-program.ts';

const lines: string[] = [];
const log = makeLog(
  { logFormat: 'json', logLevel: 'info' },
  () => 0,
  (line) => lines.push(line),
);
const loaded = () => ({ config: { dataDir: '/data' }, file: '/etc/g.toml' }) as never;
const ended = (more: Partial<Ended>): Ended => ({
  exitCode: 0,
  printed: '',
  complaint: '',
  ...more,
});

describe('a check', () => {
  test('runs the command with the settings of the server, once at a time', async () => {
    const commands: string[] = [];
    const { promise, resolve } = Promise.withResolvers<Ended>();
    const run = (words: readonly string[]) => {
      commands.push(words.join(' '));
      return promise;
    };
    const stopping = new AbortController().signal;
    const check = checkup({ loaded, run, log, stopping }, ['doctor'], findingsIn);
    expect(check.last()).toBeNull();
    const both = [check.run(5), check.run(6)];
    expect(commands).toEqual(['doctor --json --data /data --config /etc/g.toml']);
    const findings = [{ check: 'clock', level: 'ok', what: 'good', todo: null }];
    resolve(ended({ exitCode: 1, printed: JSON.stringify({ findings }) }));
    expect(await Promise.all(both)).toEqual([findings, findings] as never);
    expect(check.last()).toEqual({ atMs: 5, result: findings } as never);
    void check.run(7);
    expect(commands).toHaveLength(2);
  });

  test('a result stays when a later run fails, is killed, or prints nonsense', async () => {
    let next = ended({ printed: '{"findings":[]}' });
    const run = async () => next;
    const stopping = new AbortController().signal;
    const check = checkup({ loaded, run, log, stopping }, ['doctor'], findingsIn);
    await check.run(1);
    for (const one of [{ exitCode: null }, { printed: '{' }, { printed: '[]' }, {}]) {
      next = ended(one);
      expect(await check.run(2)).toBeNull();
    }
    expect(check.last()).toEqual({ atMs: 1, result: [] });
    expect(lines.join()).toContain('check_failed');
  });

  test('ends when the server stops', async () => {
    const stopping = new AbortController();
    const run = (_: readonly string[], signal: AbortSignal) =>
      new Promise<Ended>((resolve) => {
        signal.addEventListener('abort', () => resolve(ended({ exitCode: null })));
      });
    const check = checkup({ loaded, run, log, stopping: stopping.signal }, ['doctor'], findingsIn);
    const running = check.run(1);
    stopping.abort();
    expect(await running).toBeNull();
  });
});

test('a verification is read: a whole chain, a broken one, and a command that failed', () => {
  const printed = '{"entries":3,"pruned":0,"from":null,"to":null,"head":"3:ab"}';
  expect(auditCheckIn(ended({ printed }))).toEqual({ count: 3, head: '3:ab', problem: null });
  const errorOf = (code: string) =>
    ended({ exitCode: 1, complaint: JSON.stringify({ error: { code, message: 'block 3' } }) });
  expect(auditCheckIn(errorOf('audit_not_verified'))?.problem).toBe('block 3');
  expect(auditCheckIn(errorOf('failed'))).toBeNull();
});

test('99 of 100 delays are within the bound that is shown', () => {
  const lags = new Histogram([0.001, 0.01, 0.1, 1]);
  expect(lagOf(lags)).toMatchObject({ loopCount: 0, loopLateCount: 0 });
  for (let n = 0; n < 99; n++) lags.observe(0.005);
  lags.observe(0.5);
  expect(lagOf(lags)).toEqual({ loopLagSeconds: 0.01, loopCount: 100, loopLateCount: 1 });
  lags.observe(7);
  lags.observe(7);
  expect(lagOf(lags)).toEqual({ loopLagSeconds: null, loopCount: 102, loopLateCount: 3 });
});
