/** `gatepost device …`, beside a server that is running. */

import { beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import { call } from '../support/app.ts';
import { runHere } from '../support/command-line.ts';
import {
  addProviderByCommand,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { addLink } from '../support/shop.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const dataDir = join(temporaryFolder(), 'data');
const DOMAIN_HASH = 'e'.repeat(64);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
let server: ServerProcess;
let owner: Credentials;
let other: Credentials;

beforeAll(async () => {
  owner = await addProviderByCommand(dataDir);
  other = await addProviderByCommand(dataDir);
  server = await startServe({ dataDir });
  const query = { domain_hash: DOMAIN_HASH, domain_name: 'example.com' };
  await call(server, '/api/add-domain', owner, query);
  for (const code of ['LinkLinkLin1', 'LinkLinkLin2']) {
    await addLink(server, owner, code, 1);
  }
  const headers = { 'x-device-os': 'iPadOS', 'x-device-model': 'Планшет', 'x-app-version': '2.0' };
  await checkIn('LinkLinkLin1', 'tablet-1', headers);
  await checkIn('LinkLinkLin2', 'phone-2', { 'x-device-os': 'Android' });
  await call(server, '/provider', null, {
    id: owner.code,
    hwid: 'tablet-1',
    domain_hash: DOMAIN_HASH,
  });
  await call(server, '/provider', null, { id: other.code, hwid: 'seen-only' });
});

async function checkIn(installid: string, hwid: string, headers: Record<string, string> = {}) {
  const query = { id: DOMAIN_HASH, installid, hwid };
  const utf8 = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    Buffer.from(value).toString('latin1'),
  ]);
  return (await call(server, '/install', null, query, { headers: utf8 })).json.msg;
}

const device = (...words: string[]) => runHere(['device', ...words, '--data', dataDir]);

async function json(...words: string[]) {
  const { code, stdout, stderr } = await device(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function hwids(...words: string[]): Promise<string[]> {
  return (await json('list', ...words)).map((row: { hwid: string }) => row.hwid);
}

test('list shows every device, and filters', async () => {
  const devices: { hwid: string }[] = await json('list');
  expect(devices.map(({ hwid }) => hwid).sort()).toEqual(['phone-2', 'seen-only', 'tablet-1']);
  expect<unknown>(devices.find(({ hwid }) => hwid === 'tablet-1')).toEqual({
    hwid: 'tablet-1',
    os: 'ios',
    os_version: '',
    device_name: 'Планшет',
    app_version: '2.0',
    user_agent: expect.any(String),
    first_seen_at: TIME,
    last_seen_at: TIME,
  });
  expect((await hwids('--provider', owner.code)).sort()).toEqual(['phone-2', 'tablet-1']);
  expect(await hwids('--provider', other.code)).toEqual(['seen-only']);
  expect(await hwids('--link', 'LinkLinkLin1')).toEqual(['tablet-1']);
  expect(await hwids('--os', 'android')).toEqual(['phone-2']);
  expect(await hwids('--os', 'ANDROID 15')).toEqual(['phone-2']);
  expect(await hwids('--os', 'iPadOS')).toEqual(['tablet-1']);
  // Filters narrow each other.
  expect(await hwids('--provider', owner.code, '--link', 'LinkLinkLin2')).toEqual(['phone-2']);
  expect(await hwids('--provider', other.code, '--link', 'LinkLinkLin2')).toEqual([]);
});

test('a list that ends before all is shown says so, and not among the records', async () => {
  const { stdout, stderr } = await device('list', '--limit', '1', '--json');
  expect(JSON.parse(stdout)).toHaveLength(1);
  expect(stderr).toBe('1 of 3 devices: --all or --limit shows more\n');
  expect((await device('list', '--limit', '1')).stderr).toBe(stderr);
  expect(await hwids('--all')).toHaveLength(3);
  expect(await hwids('--limit', '3')).toHaveLength(3);
  expect((await device('list', '--all', '--limit', '1')).code).toBe(2);
});

test('list for people is aligned, wide letters or not', async () => {
  const { stdout } = await device('list', '--provider', owner.code);
  const [heading = '', ...rows] = stdout.trimEnd().split('\n');
  expect(heading).toMatch(/^HWID +OS +VERSION +NAME +APP +LAST SEEN$/);
  const row = rows.find((line) => line.startsWith('tablet-1')) ?? '';
  expect(row.indexOf('Планшет')).toBe(heading.indexOf('NAME'));
  expect(row.indexOf('2.0')).toBe(heading.indexOf('APP'));
});

test('show tells everything that a device belongs to', async () => {
  const shown = await json('show', 'tablet-1');
  expect(shown).toMatchObject({
    hwid: 'tablet-1',
    links: [
      {
        install_code: 'LinkLinkLin1',
        provider_code: owner.code,
        registered_at: TIME,
        last_seen_at: TIME,
      },
    ],
    domains: [
      { domain_name: 'example.com', provider_code: owner.code, active: true, linked_at: TIME },
    ],
    seen_by: [{ provider_code: owner.code, last_seen_at: TIME }],
  });
  const text = (await device('show', 'tablet-1')).stdout;
  expect(text).toMatch(/^hwid +tablet-1$/m);
  expect(text).toMatch(/^LinkLinkLin1 +\w{8} +\d\S+ +\d\S+$/m);
  expect((await device('show', 'seen-only')).stdout).toContain('It is on no link.');
});

test('forget frees the slot on the running server', async () => {
  await addLink(server, owner, 'LinkLinkLin3', 1);
  expect(await checkIn('LinkLinkLin3', 'leaving')).toBe('Ok');
  expect(await checkIn('LinkLinkLin3', 'coming')).toBe('Install limit reached');
  expect((await device('forget', 'leaving', '--yes')).stdout).toBe(
    'leaving forgotten; its slots are free\n',
  );
  expect(await checkIn('LinkLinkLin3', 'coming')).toBe('Ok');
  expect(await json('forget', 'coming', '--yes')).toEqual({ hwid: 'coming', done: 'forgotten' });
  expect(await hwids('--link', 'LinkLinkLin3')).toEqual([]);
});

for (const verb of ['show', 'forget']) {
  test(`${verb} of an unknown device is one sentence`, async () => {
    const sentence = "gatepost: there is no device 'unknown': see 'gatepost device list'\n";
    expect(await device(verb, 'unknown')).toEqual({ code: 1, stdout: '', stderr: sentence });
  });
}

for (const [words, mistake] of [
  [['show', 'a,b'], 'a HWID is 1 to 128 visible ASCII characters without comma'],
  [['list', '--limit', '0'], "'0' is not a number from 1 to 9999999"],
  [['list', '--link', ''], 'a link is given by its code, #ID, part of its note, or key:'],
  [['list', '--provider', 'short'], 'a provider code is 8 letters and digits'],
  [['show'], "missing required argument 'hwid'"],
  [['lsit'], "unknown command 'lsit'"],
] as const) {
  test(`device ${words.join(' ')} is a mistake of usage`, async () => {
    const { code, stdout, stderr } = await device(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toStartWith(`gatepost: ${mistake}`);
  });
}
