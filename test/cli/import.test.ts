/** `gatepost import --from`: from a server that is not ours and not always well. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
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

function words(...more: string[]): string[] {
  const { code, authKey } = source.credentials;
  const keyFile = line.secretFile(`${authKey}\n`);
  return ['import', '--from', source.url, '--code', code, '--key-file', keyFile, ...more];
}

async function bring(...more: string[]) {
  const { code, stdout, stderr } = await line.run(...words('--json', ...more));
  expect(stdout + stderr).not.toContain(source.credentials.authKey);
  return { code, summary: code === 0 ? JSON.parse(stdout) : null, stdout, stderr };
}

function rows<T>(sql: string): T[] {
  const db = openBeside(line.dataDir);
  try {
    return db.query<T, []>(sql).all();
  } finally {
    db.close();
  }
}

const linkRows = () =>
  rows('SELECT id, install_code, install_limit, device_count, status, note FROM install');
const pathsOf = () => source.calls.map(({ path }) => path);

describe('what arrives', () => {
  test('links, HWIDs and bindings as they were, times read in the zone of the source', async () => {
    source.domains = [
      {
        id: 41,
        domain_name: 'shop',
        domain_hash: 'a'.repeat(64),
        status: 5,
        created_at: '2026-03-04 05:06:07',
      },
    ];
    source.add(7, ['late', 'early'], { note: 'n', status: 5, install_limit: 2 });
    source.add(8);
    const { summary } = await bring('--zone', '+05:30', '--plan', 'pro', '--name', 'Mover');
    expect(summary).toMatchObject({ complete: true, links: { listed: 2, added: 2 } });
    expect(summary).toMatchObject({ hwids: { added: 2 }, domains: { added: 1 }, new_ids: 0 });
    expect(linkRows()).toEqual([
      {
        id: 7,
        install_code: 'Code00000007',
        install_limit: 2,
        device_count: 2,
        status: 5,
        note: 'n',
      },
      {
        id: 8,
        install_code: 'Code00000008',
        install_limit: 10,
        device_count: 0,
        status: 10,
        note: null,
      },
    ]);
    expect(rows('SELECT id, domain_name, status, created_at_ms FROM domain')).toEqual([
      {
        id: 41,
        domain_name: 'shop',
        status: 5,
        created_at_ms: Date.UTC(2026, 2, 3, 23, 36, 7),
      },
    ]);
    expect(
      rows(`SELECT hwid, device_provider.device_name, registered_at_ms AS at FROM install_device s
            JOIN device d ON d.id = device_id JOIN device_provider USING (device_id, provider_id)
            ORDER BY s.id`),
    ).toEqual(
      ['early', 'late'].map((hwid) => ({
        hwid,
        device_name: `phone ${hwid}`,
        at: Date.UTC(2026, 1, 2, 22, 35, 6),
      })),
    );
    const shown = await line.run('provider', 'show', 'Source01', '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ name: 'Mover', plan: 'pro', links: 2 });
  });

  test('again asks only for the HWIDs of links whose number differs', async () => {
    for (const id of [1, 2, 3]) source.add(id, [`h${id}`]);
    await bring();
    source.calls.length = 0;
    source.links.pop();
    const grown = source.add(4, ['new', 'h3']);
    const { summary } = await bring();
    expect(summary.links).toMatchObject({ added: 1, present: 2, different: 0 });
    expect(summary.hwids).toEqual({ added: 2, present: 2, without_room: 0 });
    const asked = source.calls.filter(({ path }) => path === '/api/list-hwid');
    expect(asked.map(({ query }) => query['install_code'])).toEqual([grown.install_code]);

    source.calls.length = 0;
    const rechecked = await bring('--recheck');
    expect(rechecked.summary.hwids).toEqual({ added: 0, present: 4, without_room: 0 });
    expect(pathsOf().filter((path) => path === '/api/list-hwid')).toHaveLength(3);
  });

  test('changes at the source are reported, and imported with --update', async () => {
    source.add(1, ['a'], { note: 'before' });
    await bring();
    Object.assign(source.links[0] ?? {}, { note: 'after', install_limit: 3, status: 5 });
    const { summary } = await bring();
    expect(summary).toMatchObject({ links: { different: 1 }, hwids: { present: 1 } });
    expect(linkRows()).toMatchObject([{ note: 'before', install_limit: 10, status: 10 }]);
    expect((await bring('--update')).summary.links).toMatchObject({ updated: 1 });
    expect(linkRows()).toMatchObject([{ note: 'after', install_limit: 3, status: 5 }]);
  });

  test('ids that are taken here, or too high, become others, above all of the source', async () => {
    await line.run('provider', 'add', '--name', 'other', '--code', 'Other001');
    source.add(2);
    source.add(5);
    source.add(4_000_000_000, [], { install_code: 'HighCode0001' });
    const db = openBeside(line.dataDir);
    db.run(`
      INSERT INTO install (id, provider_id, install_code, install_limit, status, created_at_ms)
            VALUES (2, 1, 'Other0000002', 1, 10, 0), (3, 1, 'Code00000005', 1, 10, 0)`);
    db.close();
    const { summary } = await bring();
    expect(summary).toMatchObject({ links: { added: 2, code_taken: 1 }, new_ids: 2 });
    const codes = rows('SELECT id, install_code AS code FROM install WHERE provider_id = 2');
    expect(codes).toEqual([
      { id: 6, code: 'Code00000002' },
      { id: 7, code: 'HighCode0001' },
    ]);
  });
});

describe('the limits of an import', () => {
  test('a list that ends at 5000 is reported; --ids fetches older links one by one', async () => {
    source.listCountMax = 5000;
    for (let id = 11; id <= 5014; id++) source.add(id);
    const { summary, code } = await bring();
    expect(code).toBe(0);
    expect(summary).toMatchObject({ complete: true, links: { added: 5000 }, links_end_at_id: 15 });
    const text = (await line.run(...words())).stdout;
    expect(text).toContain('--ids 1-14');

    source.calls.length = 0;
    const { summary: more } = await bring('--ids', '12-16');
    expect(more.links).toMatchObject({ added: 3, present: 5000, listed: 5003 });
    const ids = source.calls.flatMap(({ query }) => (query['id'] ? [query['id']] : []));
    expect(ids).toEqual(['14', '13', '12']);
  });

  test('a list of exactly 5000 from a server that knows before_id is all there is', async () => {
    for (let id = 1; id <= 5000; id++) source.add(id);
    source.meddle = (_, query) => (query['before_id'] ? { rc: 1, msg: 'Ok', data: [] } : undefined);
    expect((await bring()).summary).toMatchObject({ links_end_at_id: null });
  });

  test('notifications and commands that wait there are counted', async () => {
    const statuses = [10, 20, 30, 40, 100, 110, 120, 130, 140];
    source.distributions = statuses.map((status, id) => ({ id, status }));
    const { summary } = await bring();
    expect(summary.distributions_waiting).toBe(4);
    expect((await line.run(...words())).stdout).toContain(
      'Notifications or commands pending at the source: 4',
    );
  });

  test('a source that refuses to tell what waits there is no harm', async () => {
    source.meddle = (path) =>
      path === '/remote/list' ? { rc: 0, msg: 'Unknown error' } : undefined;
    const { summary } = await bring();
    expect(summary.distributions_waiting).toBeNull();
  });

  test('records that are none are left out and named, texts are made fit', async () => {
    source.add(1, ['fine', 'has,comma', '']);
    source.add(2, [], { note: `two\nlines ${'x'.repeat(300)}` });
    source.add(3, [], { install_limit: 101 });
    source.add(4, [], { created_at: '2026-02-30 00:00:00' });
    source.links.push(null as never, { id: 'x' } as never);
    const { summary } = await bring();
    expect(summary).toMatchObject({ links: { added: 2 }, hwids: { added: 1 }, mended: 1 });
    expect(summary.unusable).toBe(6);
    expect(summary.problems).toContain(
      'link with id 3: install_limit must be a whole number from 1 to 100',
    );
    expect(summary.problems).toContain('link with id 4: created_at is not as specified');
    const [, mended] = linkRows() as { note: string }[];
    expect(mended?.note).toBe(`two lines ${'x'.repeat(245)}`);
  });

  test('more HWIDs than the limit are left out, a link that vanished is no harm', async () => {
    source.add(1, ['a', 'b', 'c'], { install_limit: 2 });
    source.add(2, ['d']);
    source.hwids.delete('Code00000002');
    const { summary } = await bring();
    expect(summary).toMatchObject({ links: { added: 1, vanished: 1 }, complete: true });
    expect(summary.hwids).toEqual({ added: 2, present: 0, without_room: 1 });
  });
});

describe('broken off', () => {
  test('a link whose HWIDs are refused is left for the next time', async () => {
    for (const id of [1, 2, 3]) source.add(id, [`h${id}`]);
    source.meddle = (path, query) =>
      path === '/api/list-hwid' && query['install_code']?.endsWith('2')
        ? { rc: 0, msg: 'Unknown error' }
        : undefined;
    const { code, stdout, stderr } = await line.run(...words('--json'));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: failureLine('source_unusable', 'the source refused 1 link'),
    });
    const { complete, links, problems } = JSON.parse(stdout);
    expect({ complete, ...links }).toMatchObject({ complete: false, added: 2, refused: 1 });
    expect(problems).toEqual(['link Code00000002: the source refuses its HWIDs: Unknown error']);
    source.meddle = () => undefined;
    expect((await bring()).summary).toMatchObject({ complete: true, links: { added: 1 } });
  });

  test('a source that goes away: the summary so far, and the rest the next time', async () => {
    for (let id = 1; id <= 120; id++) source.add(id, [`h${id}`]);
    source.meddle = (_, __, n) => (n > 100 ? new Response('', { status: 503 }) : undefined);
    const { code, stdout, stderr } = await line.run(...words('--json'));
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      complete: false,
      links: { listed: 120, added: 50 },
      hwids: { added: 50 },
    });
    expect(stderr).toEndWith(
      failureLine('source_unusable', 'the source answers HTTP 503 (/api/list-hwid, 8 attempts)'),
    );
    expect(stderr).toContain('retry in');
    source.meddle = () => undefined;
    expect((await bring()).summary.links).toMatchObject({ added: 70, present: 50 });
  });

  test('a source with more links than the provider may have here', async () => {
    for (const id of [1, 2, 3]) source.add(id);
    const { code, stderr } = await bring('--max-links', '2');
    expect(code).toBe(1);
    expect(stderr).toBe(
      failureLine(
        'source_unusable',
        'the source lists more than 2 records (/api/list-install), the most that are taken here; for links, provider set --max-links raises it',
      ),
    );
    expect(linkRows()).toEqual([]);
  });
});

describe('the provider', () => {
  test('a key that the source does not take makes no provider here', async () => {
    source.credentials.authKey = 'z'.repeat(32);
    const { code, stdout, stderr } = await line.run(
      ...words().with(-1, line.secretFile('y'.repeat(32))),
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe('gatepost: the source rejects these credentials (Auth error)\n');
    expect(existsSync(line.dataDir)).toBe(false);
  });

  test('one that is here with another key is refused, unless --new-key continues', async () => {
    await line.run('provider', 'add', '--name', 'mine', '--code', 'Source01');
    source.add(1);
    const refused = await bring();
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /"other_key","message":"provider Source01 exists with another key/,
    );
    const { code, stdout, stderr } = await bring('--new-key');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ links: { added: 1 } });
    expect(stderr).toContain('keeps its key');
  });

  test('--new-key prints a key once, before anything else', async () => {
    source.add(1);
    const { code, stdout } = await line.run(...words('--new-key', '--json'));
    const [credentials, summary] = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect({ code, ...credentials }).toEqual({
      code: 0,
      provider_code: 'Source01',
      auth_key: expect.stringMatching(/^[-_A-Za-z0-9]{32}$/),
    });
    expect(credentials.auth_key).not.toBe(source.credentials.authKey);
    expect(summary.links.added).toBe(1);
  });

  test('the summary names the rights of its plan here, which the source does not return', async () => {
    const { stdout } = await line.run(...words());
    expect(stdout).toEndWith(
      '\nIts plan here is enterprise: links, domains, commands and notifications.\n',
    );
  });

  test('the key may come from a file', async () => {
    const { code, authKey } = source.credentials;
    const file = line.secretFile(`${authKey}\n`);
    const from = ['import', '--from', source.url, '--code', code, '--key-file', file];
    expect((await line.run(...from)).code).toBe(0);
    const other = line.secretFile('not a key');
    const { stderr } = await line.run(...from.with(-1, other));
    expect(stderr).toBe(`gatepost: ${other} has no valid key: 32 letters, digits, - and _\n`);
  });

  test('a wrong command line exits with 2', async () => {
    const key = source.credentials.authKey;
    const wrong = [
      ['import'],
      words('file'),
      ['import', 'file', '--key', key],
      ['import', 'file', '--plan', 'pro'],
      ['import', 'file', '--recheck'],
      ['import', '--from', source.url, '--key', key],
      ['import', '--from', source.url, '--code', 'Source01'],
      words('--key', key),
      words('--ids', '5-1'),
      words('--rate', '0'),
      words('--zone', '3'),
      ['import', '--from', 'ftp://127.0.0.1', '--code', 'Source01', '--key', key],
      ['import', '--from', `${source.url}/?a=1`, '--code', 'Source01', '--key', key],
    ];
    for (const argv of wrong) {
      const { code, stdout } = await line.run(...argv);
      expect({ argv, code, stdout }).toEqual({ argv, code: 2, stdout: '' });
    }
    expect(source.calls).toEqual([]);
  });
});

describe('in a log and on a terminal', () => {
  test('a line every few seconds, or one that is drawn over and taken away', async () => {
    for (let id = 1; id <= 300; id++) source.add(id, [`h${id}`]);
    const { stderr } = await bring('--rate', '10');
    expect(stderr).toMatch(/^(\d+ of 300 links(, \d+ s left)?\n)+$/);
    expect(line.pauses.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(29_000);

    const terminal = commandLine({ isProgressDrawn: true });
    const drawn = await terminal.run(...words('--rate', '10'));
    terminal.close();
    expect(drawn.stderr).toMatch(/\r\x1b\[K\[#+\.+\] \d+% \d+ of 300 links, \d+ s left/);
    expect(drawn.stderr).toEndWith('\r\x1b[K');
  });
});
