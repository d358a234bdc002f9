/** `gatepost import --from`: a source that lies, or that is not one. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { type CommandLine, commandLine, failureLine } from '../support/command-line.ts';
import { openBeside } from '../support/database.ts';
import { FakeSource } from '../support/fake-source.ts';

let source: FakeSource;
let line: CommandLine;
beforeEach(() => {
  source = new FakeSource();
  line = commandLine();
});
afterEach(async () => {
  await source.stop();
  line.close();
});

function bring(from = source.url) {
  const { code, authKey } = source.credentials;
  const keyFile = line.secretFile(authKey);
  return line.run('import', '--from', from, '--code', code, '--key-file', keyFile, '--json');
}

async function summary() {
  const { code, stdout } = await bring();
  return { code, ...JSON.parse(stdout) };
}

function rows<T>(sql: string): T[] {
  const db = openBeside(line.dataDir);
  try {
    return db.query<T, []>(sql).all();
  } finally {
    db.close();
  }
}

/** The answer to the path, instead of the source's. */
function answers(path: string, answer: (query: Record<string, string>) => unknown): void {
  source.meddle = (called, query) => (called === path ? answer(query) : undefined);
}

const brackets = () => new Response('['.repeat(10_000_000));

test('brackets at the beginning: one sentence, and nothing is made', async () => {
  source.meddle = brackets;
  const sentence =
    'what the source answers to /api/list-domain must not nest deeper than 32 levels';
  expect(await bring()).toEqual({
    code: 1,
    stdout: '',
    stderr: failureLine('source_unusable', sentence),
  });
  expect(existsSync(line.dataDir)).toBe(false);
  expect(source.calls).toHaveLength(1);
});

test('brackets for the HWIDs of a link: what came before stays, and it ends', async () => {
  source.add(1, ['a']);
  answers('/api/list-hwid', brackets);
  const { code, stderr, stdout } = await bring();
  expect(code).toBe(1);
  expect(stderr).toBe(
    failureLine('source_unusable', 'the source sends more than 1048576 bytes for one list'),
  );
  expect(JSON.parse(stdout)).toMatchObject({ complete: false, links: { added: 0 } });
  expect(source.calls.filter(({ path }) => path === '/api/list-hwid')).toHaveLength(1);
});

test('a port without a server is one sentence at once', async () => {
  const { url } = source;
  await source.stop();
  const { code, stderr } = await bring(url);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /"source_unusable","message":"the source cannot be reached \(\w+\): is its address right\?"/,
  );
  expect(line.pauses.filter((ms) => ms > 0)).toEqual([]);
});

test('a list that never ends, though its ids fall, ends at what a provider may have', async () => {
  let lowest = 900_000_000;
  answers('/api/list-install', () => {
    const data = Array.from({ length: 5000 }, () => ({ id: lowest-- }));
    return { rc: 1, msg: 'Ok', data };
  });
  const { code, stderr } = await bring();
  expect(code).toBe(1);
  expect(stderr).toContain('the source lists more than 100000 records (/api/list-install)');
  expect(source.calls.length).toBeLessThan(25);
});

test('a list that gives its records one by one is over after the first', async () => {
  let lowest = 1_000_000;
  answers('/api/list-install', () => ({ rc: 1, msg: 'Ok', data: [{ id: lowest-- }] }));
  expect(await summary()).toMatchObject({ code: 0, unusable: 1, complete: true });
  expect(source.calls.filter(({ path }) => path === '/api/list-install')).toHaveLength(1);
});

test('a full page without an id to go on from, and one whose ids do not fall', async () => {
  const full = Array.from({ length: 5000 }, () => ({ id: 'none' }));
  answers('/api/list-install', () => ({ rc: 1, msg: 'Ok', data: full }));
  expect(await summary()).toMatchObject({ code: 0, unusable: 5000 });
  const same = Array.from({ length: 5000 }, () => ({ id: 7 }));
  answers('/api/list-install', () => ({ rc: 1, msg: 'Ok', data: same }));
  expect(await summary()).toMatchObject({ code: 0, unusable: 5000, links_end_at_id: 7 });
});

test('numbers that are none, ids without end, the same code twice', async () => {
  source.add(1, [], { install_count: -1 });
  source.add(2, [], { install_count: 1.5 });
  source.add(-3);
  source.add(1e15);
  source.add(999_999_999_999_999, [], { install_code: 'LinkCode0001' });
  source.add(5, [], { install_code: 'LinkCode0002' });
  source.add(6, [], { install_code: 'LinkCode0002', install_limit: 3 });
  const { code, ...rest } = await summary();
  expect(code).toBe(0);
  expect(rest).toMatchObject({ unusable: 4, links: { added: 2, different: 1 }, new_ids: 1 });
  const [highest] = rows<{ id: number }>('SELECT max(id) AS id FROM install');
  expect(highest?.id).toBeLessThan(100);
});

test('more HWIDs than any link has room for never reach the database', async () => {
  const many = Array.from({ length: 2_000 }, (_, n) => `device-${n}`);
  source.add(1, [...many, 'with,comma'], { install_limit: 100 });
  expect(await summary()).toMatchObject({
    code: 0,
    hwids: { added: 100, without_room: 1_900 },
    unusable: 1,
  });
});

test('dates far away: before 1970 is none, and what is to come is made now', async () => {
  source.add(1, ['late', 'early'], { created_at: '9999-12-31 23:59:59' });
  source.add(2, [], { created_at: '0001-01-01 00:00:00' });
  for (const hwid of source.hwids.get('Code00000001') ?? []) {
    hwid.date = hwid.hwid === 'late' ? '9999-12-31 23:59:59' : '1969-12-31 00:00:00';
  }
  expect(await summary()).toMatchObject({ code: 0, links: { added: 1 }, mended: 1, unusable: 2 });
  const [link] = rows<{ at: number }>('SELECT created_at_ms AS at FROM install');
  const [slot] = rows<{ at: number }>('SELECT registered_at_ms AS at FROM install_device');
  expect(link?.at).toBeLessThan(Date.UTC(2026, 10, 21));
  expect(slot?.at).toBeLessThan(Date.UTC(2026, 10, 21));
});

test('codes of 8 to 12 letters and digits come, and are found by them', async () => {
  const codes = ['Abcdef12', 'Abcdef123', 'Abcdef1234', 'Abcdef12345', 'Abcdef123456'];
  codes.forEach((code, n) => {
    source.add(n + 1, [`phone-${n}`], { install_code: code });
  });
  source.add(8, [], { install_code: 'Short12' });
  source.add(9, [], { install_code: 'Abcdef1234567' });
  expect(await summary()).toMatchObject({ code: 0, links: { added: 5 }, unusable: 2 });
  for (const [n, code] of codes.entries()) {
    const { stdout } = await line.run('device', 'list', '--link', code, '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ hwid: `phone-${n}` }]);
  }
  const file = `${line.dataDir}.jsonl`;
  await line.run('export', source.credentials.code, file);
  const other = commandLine();
  const { code, stdout } = await other.run('import', file, '--json');
  other.close();
  expect({ code, links: JSON.parse(stdout).links.added }).toEqual({ code: 0, links: 5 });
});
