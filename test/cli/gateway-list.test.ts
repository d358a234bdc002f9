/** `gatepost gateway list`: an operator sees at once which gateway is ill, and why. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { openBeside } from '../support/database.ts';

let line: CommandLine;
beforeEach(async () => {
  line = commandLine();
  await line.run('provider', 'add', '--name', 'n');
});
afterEach(() => line.close());

/** A configuration that is never used: the command reads the names alone. */
function settings(): string {
  const file = join(line.dataDir, 'test.toml');
  const fcm = '[gateway.fcm]\nservice_account = "/nowhere.json"\n';
  writeFileSync(file, `${fcm}[gateway.webpush]\nsubject = "mailto:me@example.org"\n`);
  return file;
}

function addDestination(kind: string, origin: string, facts: Record<string, unknown> = {}): void {
  const row = { kind, origin, ...facts };
  const db = openBeside(line.dataDir);
  const names = Object.keys(row);
  db.query(
    `INSERT INTO destination (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  ).run(...(Object.values(row) as string[]));
  db.close();
}

const lines = async (...words: string[]) => {
  const { code, stdout, stderr } = await line.run('gateway', 'list', ...words);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trimEnd().split('\n');
};

test('without gateways it says so', async () => {
  expect(await lines()).toEqual([
    'gateway  state       waiting  oldest from  problem',
    'fcm      not set up        0  -            -',
    'apns     not set up        0  -            -',
    'webpush  not set up        0  -            -',
  ]);
});

test('a gateway that is stopped, one that is paused, and a push service that fails', async () => {
  const nowMs = Date.now();
  const problem = 'the key is not known';
  addDestination('fcm', '', { stopped_at_ms: nowMs, problem, failing_since_ms: nowMs });
  addDestination('webpush', 'https://push.example.org');
  const failing = { failing_since_ms: nowMs, failure_count: 3, problem: 'no answer in 10 s' };
  addDestination('webpush', 'https://other.example.org', failing);
  const shown = await lines('--config', settings());
  expect(shown).toEqual([
    'gateway  state        waiting  oldest from  problem',
    'fcm      stopped            0  -            the key is not known',
    'apns     not set up         0  -            -',
    'webpush  1 of 2 fail        0  -            -',
    '',
    'push service               state    waiting  problem',
    'https://other.example.org  failing        0  no answer in 10 s',
  ]);
  const [json = ''] = await lines('--config', settings(), '--json');
  const [fcm, apns, webpush] = JSON.parse(json) as Record<string, unknown>[];
  expect(fcm).toMatchObject({ gateway: 'fcm', state: 'stopped', waiting: 0, problem });
  expect(apns).toMatchObject({ gateway: 'apns', state: 'not set up', problem: null });
  expect(webpush?.['push_services']).toEqual([
    {
      origin: 'https://other.example.org',
      state: 'failing',
      waiting: 0,
      problem: 'no answer in 10 s',
    },
  ]);
});

test('a circuit that is open says until when', async () => {
  const retryAtMs = Date.now() + 60_000;
  addDestination('fcm', '', { failing_since_ms: 1, retry_at_ms: retryAtMs, problem: 'it is away' });
  const [json = ''] = await lines('--config', settings(), '--json');
  const [fcm] = JSON.parse(json) as Record<string, unknown>[];
  expect(fcm).toMatchObject({ state: 'paused', problem: 'it is away' });
  expect(fcm?.['retry_at']).toBeString();
});
