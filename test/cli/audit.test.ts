/** `gatepost audit …`, and what the other commands leave in it. */

import { beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NumberedEntry } from '../../src/core/audit/chain.ts';
import { call } from '../support/app.ts';
import { deedOf } from '../support/audit.ts';
import { runHere } from '../support/command-line.ts';
import { openBeside } from '../support/database.ts';
import { testWith } from '../support/needs.ts';
import { type ServerProcess, startServe, temporaryFolder } from '../support/process.ts';
import { addLink, bind, enter, expectOk } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const KEY = 'own-key_own-key_own-key_own-key_';
const OTHER_KEY = 'other-key_other-key_other-key_12';

const folder = temporaryFolder();
const dataDir = join(folder, 'data');
const gatepost = (...words: string[]) => runHere([...words, '--data', dataDir]);
const env = { SUDO_USER: 'alice', SSH_CONNECTION: '203.0.113.5 4711 192.0.2.1 22' };

async function list(...words: string[]): Promise<NumberedEntry[]> {
  const { code, stdout, stderr } = await gatepost('audit', 'list', '--json', ...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

let server: ServerProcess;
beforeAll(async () => {
  server = await startServe({ dataDir });
});

const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const NAMED = ['provider', 'add', '--code', 'Provide1', '--key', KEY, '--name', 'Name'];
const ROTATE = ['provider', 'rotate-key', 'Provide1', '--key', OTHER_KEY, '--keep-old', '24h'];

/** Each command in order, with all that it leaves; `changed` stands for a time. */
const STEPS: readonly (readonly [readonly string[], readonly string[]])[] = [
  [
    [...NAMED, '--plan', 'pro'],
    [
      `provider.add {"key":"${sha(KEY).slice(0, 8)}","plan":"pro","active_until":null,"max_links":null}`,
    ],
  ],
  [NAMED, []],
  [['provider', 'set', 'Provide1', '--plan', 'pro'], []],
  [
    ['provider', 'set', 'Provide1', '--plan', 'enterprise', '--name', 'X', '--max-links', '7'],
    ['provider.set {} {"plan":["pro","enterprise"],"max_links":[null,7],"name":"changed"}'],
  ],
  [
    ['provider', 'set', 'Provide1', '--expires', '2030-01-01'],
    ['provider.set {} {"active_until":[null,"2030-01-01T21:00:00.000Z"]}'],
  ],
  [['provider', 'set', 'Nobody99', '--plan', 'pro'], []],
  [['provider', 'suspend', 'Provide1'], ['provider.suspend {} {"suspended_at":[null,"TIME"]}']],
  [['provider', 'resume', 'Provide1'], ['provider.resume {} {"suspended_at":["TIME",null]}']],
  [['provider', 'resume', 'Provide1'], []],
  [
    ROTATE,
    [
      `provider.rotate-key {"old_key_until":"TIME"} {"key":["${sha(KEY).slice(0, 8)}","${sha(OTHER_KEY).slice(0, 8)}"]}`,
    ],
  ],
  [['device', 'forget', 'unknown', '--yes'], []],
  [['device', 'forget', 'phone', '--yes'], [`device.forget {"hwid_sha256":"${sha('phone')}"}`]],
  [['distribution', 'block', '99'], []],
  [['distribution', 'block', '1'], ['distribution.block {"id":1} {"status":[30,140]}']],
  [['distribution', 'block', '1'], []],
  [['provider', 'list'], []],
  [['provider', 'remove', 'Provide1', '--yes'], ['provider.remove {"links":1}']],
  [['provider', 'remove', 'Provide1', '--yes'], []],
];

/** Makes the records that the commands need: a link with a device, and a waiting command. */
async function prepare(): Promise<void> {
  const own = { code: 'Provide1', authKey: KEY };
  await bind(server, own);
  await addLink(server, own);
  await enter(server, 'phone');
  const due = new Date(Date.now() + 5 * 3_600_000).toISOString();
  const body = JSON.stringify({
    action_type: 'update-subscription',
    hwid: 'phone',
    send_date: due.slice(0, 10),
    send_time: due.slice(11, 16),
  });
  await expectOk(call(server, '/remote/command', own, {}, { method: 'POST', body }));
}

test('every command leaves exactly its entry; what is refused or changes nothing, none', async () => {
  let seen = 0;
  for (const [words, deeds] of STEPS) {
    if (words.includes('rotate-key')) {
      await prepare();
      seen = (await list())[0]?.number ?? 0;
    }
    if (words.includes('block')) await waitsForItsTime();
    await runHere([...words, '--data', dataDir], { env });
    const entries = (await list()).filter(({ number }) => number > seen).reverse();
    const told = entries.map((entry) => deedOf(entry).replace(/"20\d\d-[^"]*Z"/g, timeless));
    expect([words, told]).toEqual([words, [...deeds]]);
    for (const entry of entries) {
      expect(entry).toMatchObject({ who: 'operator', from: 'ssh 203.0.113.5' });
      expect(entry.name).toEndWith('(sudo by alice)');
      expect(entry.provider).toBe(words[0] === 'device' ? undefined : 'Provide1');
    }
    seen += entries.length;
  }
  const of = (await list('--provider', 'Provide1')).map(({ action }) => action);
  expect(of).toContain('install.add');
  expect(of).toContain('command.send');
  expect((await list('--hwid', 'phone')).map(({ action }) => action)).toEqual(['device.forget']);
});

const timeless = (time: string) => (time.startsWith('"2030') ? time : '"TIME"');

/** The worker has looked at the command and put it aside. */
async function waitsForItsTime(): Promise<void> {
  await until('the worker to put the command aside', async () => {
    const { stdout } = await gatepost('distribution', 'list', '--json');
    return ![10, 20].includes(JSON.parse(stdout)[0].status);
  });
}

describe('verify and export', () => {
  const file = join(folder, 'audit.jsonl');

  test('the head that verify prints is that of an independent computation', async () => {
    const verified = await gatepost('audit', 'verify', '--json');
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    const { head, entries, pruned } = JSON.parse(verified.stdout);
    expect(await gatepost('audit', 'head')).toMatchObject({ code: 0, stdout: `${head}\n` });
    const exported = await gatepost('audit', 'export', file);
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const printed = await gatepost('audit', 'export');
    expect(printed.stdout).toBe(readFileSync(file, 'utf8'));

    let prev = '0'.repeat(64);
    let count = 0;
    for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
      const row = JSON.parse(line);
      expect(row.prev).toBe(prev);
      expect(row.hash).toBe(sha(line.replace(/^\{"hash":"[0-9a-f]{64}",/, '{')));
      count += row.entries.length;
      expect(row.last).toBe(count);
      prev = row.hash;
    }
    expect(head).toBe(`${count}:${prev}`);
    expect({ entries, pruned }).toEqual({ entries: count, pruned: 0 });
    expect((await gatepost('audit', 'verify', '--expect', head)).code).toBe(0);
  });

  testWith('python3')('so does the script of docs/inside/audit-format.md', async () => {
    const page = readFileSync(join(import.meta.dir, '../../docs/inside/audit-format.md'), 'utf8');
    const script = join(folder, 'verify.py');
    writeFileSync(script, /```python\n(.*?)```/s.exec(page)?.[1] ?? '');
    const check = (path: string) => {
      const { stdout, stderr } = Bun.spawnSync(['python3', script, path]);
      return { said: String(stdout).trim(), refused: String(stderr).trim() };
    };
    const { head } = JSON.parse((await gatepost('audit', 'verify', '--json')).stdout);
    expect(check(file)).toEqual({ said: head, refused: '' });
    const changed = join(folder, 'changed.jsonl');
    writeFileSync(changed, readFileSync(file, 'utf8').replace('"pro"', '"basic"'));
    expect(check(changed)).toEqual({ said: '', refused: 'block 1 was changed' });
    writeFileSync(changed, readFileSync(file, 'utf8').split('\n').slice(1).join('\n'));
    expect(check(changed).refused).toStartWith('the oldest blocks are missing');
  });

  test('a file that is there already is not touched', async () => {
    const { code, stderr } = await gatepost('audit', 'export', file);
    expect(code).toBe(1);
    expect(stderr).toBe(`gatepost: ${file} exists: name another\n`);
  });

  test('a block that was changed: exit 1 and its number', async () => {
    const head = `1:${'0'.repeat(64)}`;
    const wrong = await gatepost('audit', 'verify', '--expect', head);
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain(`the chain does not contain ${head}`);
    const right = JSON.parse((await gatepost('audit', 'verify', '--json')).stdout).head;
    for (const heads of [
      [right, head],
      [head, right],
    ]) {
      const words = heads.flatMap((one) => ['--expect', one]);
      expect((await gatepost('audit', 'verify', ...words)).stderr).toBe(wrong.stderr);
    }
    const db = openBeside(dataDir);
    const row = db.query('SELECT entries FROM audit WHERE last_number = 2').get();
    const original = (row as { entries: string }).entries;
    db.run(
      `UPDATE audit SET entries = replace(entries, 'enterprise', 'pro') WHERE last_number = 2`,
    );
    db.close();
    const { code, stdout, stderr } = await gatepost('audit', 'verify');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      'gatepost: the audit log does not verify: block 2 was changed: its hash differs\n',
    );
    for (const entries of ['not JSON', '{}', '[null]', '[{"at":"x"}]']) {
      const db = openBeside(dataDir);
      db.query('UPDATE audit SET entries = ? WHERE last_number = 2').run(entries);
      db.close();
      const listed = await gatepost('audit', 'list', '--limit', '1000');
      expect(listed).toMatchObject({ code: 1, stdout: '' });
      expect(listed.stderr).toContain("'gatepost audit verify' shows which one\n");
    }
    const back = openBeside(dataDir);
    back.run('UPDATE audit SET entries = ? WHERE last_number = 2', [original]);
    back.close();
  });
});

test('list for people: newest first, a line for each', async () => {
  const { stdout } = await gatepost('audit', 'list', '--limit', '2', '--action', 'provider.set');
  const [head, first, second, ...rest] = stdout.split('\n');
  expect(head).toMatch(/^NUMBER +AT +WHO +FROM +ACTION +PROVIDER +WHAT$/);
  expect(first).toMatch(/ provider\.set +Provide1 +active_until=none->2030-01-01T21:00:00\.000Z$/);
  expect(second).toMatch(/ max_links=none->7 name changed$/);
  expect(rest).toEqual(['']);
});

test.each([
  [['--since', '1h'], true],
  [['--since', '2020-01-01'], true],
  [['--since', '2099-01-01T00:00'], false],
  [['--until', '2020-01-01T00:00:00+03:00'], false],
  [['--until', '2099-12-31T23:59:59Z'], true],
])('list %p', async (words, isThere) => {
  expect((await list(...words)).length > 0).toBe(isThere);
});

test.each([
  [['list', '--since', '2026-02-30'], "'2026-02-30' is not a time"],
  [['list', '--since', '20'], "'20' is not a time"],
  [['list', '--action', 'provider.eat'], "unknown action 'provider.eat': install.add, "],
  [['verify', '--expect', 'abc'], "'abc' is not a head of the audit log: NUMBER:HASH"],
])('audit %p is a mistake of usage', async (words, sentence) => {
  const { code, stdout, stderr } = await gatepost('audit', ...words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(sentence);
});
