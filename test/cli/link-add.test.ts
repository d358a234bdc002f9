/** `gatepost link add` and `link import`. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addProvider, CODE } from '../store/contract/fixture.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink, openData } from '../support/links.ts';

let line: CommandLine;
let file: string;
beforeEach(async () => {
  line = commandLine();
  file = join(line.dataDir, '..', 'links.csv');
  await makeLink(line.dataDir, async () => {});
});
afterEach(() => line.close());

const link = (...words: string[]) => line.run('link', ...words);

async function json(...words: string[]) {
  const { code, stdout, stderr } = await link(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function addOther(): Promise<void> {
  const { store } = await openData(line.dataDir);
  await addProvider(store, 'Provide2');
  await store.close();
}

describe('add', () => {
  test('makes a link of the only provider, with an entry by the operator', async () => {
    const words = ['--code', 'Customer0001', '--limit', '5', '--note', 'Anna', '--key', 'panel-1'];
    expect(await json('add', ...words)).toMatchObject({
      install_code: 'Customer0001',
      provider_code: 'Provide1',
      active: true,
      install_limit: 5,
      install_count: 0,
      note: 'Anna',
    });
    expect(await json('show', 'key:panel-1')).toMatchObject({ install_code: 'Customer0001' });
    const audit = await line.run('audit', 'list', '--limit', '1', '--json');
    expect(JSON.parse(audit.stdout)).toMatchObject([
      { who: 'operator', action: 'install.add', provider: 'Provide1' },
    ]);
    expect(await json('add')).toMatchObject({ install_limit: 3, note: null });
  });

  test('takes each term that `link set` takes, and an import too', async () => {
    const terms = ['--inactive-days', '7', '--when-full', 'replace-oldest', '--enforce', 'off'];
    const more = ['--cool-down-hours', '2', '--without-hwid', 'count', '--same-phone', 'ask'];
    more.push('--when-new', 'refuse');
    const buttons = ['--support-url', 'https://a.example/s', '--web-page-url', 'none'];
    const own = {
      inactive_days: 7,
      when_full: 'replace-oldest',
      cool_down_hours: 2,
      enforce: 0,
      without_hwid: 'count',
      same_phone: 'ask',
      when_new: 'refuse',
      support_url: 'https://a.example/s',
      web_page_url: null,
    };
    await json('add', '--code', 'Customer0001', ...terms, ...more, ...buttons);
    expect(await json('show', 'Customer0001')).toMatchObject(own);
    writeFileSync(file, 'code\nCustomer0002\n');
    await json('import', file, ...terms, ...more, ...buttons);
    expect(await json('show', 'Customer0002')).toMatchObject(own);
  });

  test('needs the provider where there are several', async () => {
    await addOther();
    expect(await link('add')).toMatchObject({ code: 1, stdout: '' });
    const made = await json('add', '--provider', 'Provide2');
    expect(made).toMatchObject({ provider_code: 'Provide2' });
  });

  test('numbers the notes of many', async () => {
    const made: { note: string }[] = await json('add', '--count', '12', '--note', 'gift');
    expect(made.map(({ note }) => note).slice(8)).toEqual([
      ...['gift 09', 'gift 10', 'gift 11', 'gift 12'],
    ]);
    expect((await link('list', '--search', 'gift')).stdout.split('\n').length).toBe(14);
  });

  test('shows the codes of many, whatever it could not read afterwards', async () => {
    const away = () => Promise.reject(new Error('too many calls wait'));
    const busy = commandLine({ dataDir: line.dataDir, replaced: { findLink: away } });
    const { code, stdout, stderr } = await busy.run('link', 'add', '--count', '3', '--json');
    busy.close();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const listed = await line.run('link', 'list', '--json');
    expect(JSON.parse(stdout)).toEqual(JSON.parse(listed.stdout).slice(0, 3).reverse());
  });

  test('makes none without room for all, and refuses what cannot be', async () => {
    await line.run('provider', 'set', 'Provide1', '--max-links', '3');
    expect(await link('add', '--count', '3')).toMatchObject({
      code: 1,
      stderr: 'gatepost: Provide1 may have 2 more links, not 3 links: nothing was changed\n',
    });
    expect((await json('add', '--count', '2')).length).toBe(2);
    for (const words of [
      ['--count', '2', '--code', 'Customer0001'],
      ['--count', '2', '--key', 'panel-1'],
      ['--count', '0'],
      ['--count', '10001'],
      ['--count', '10', '--note', 'n'.repeat(254)],
      ['--code', 'short'],
    ]) {
      expect((await link('add', ...words)).code).toBe(2);
    }
  });

  test('says which name is taken', async () => {
    await json('add', '--key', 'panel-1');
    const { stderr } = await link('add', '--key', 'panel-1');
    expect(stderr).toBe('gatepost: subscription_key is that of another link\n');
    expect((await link('add', '--code', CODE)).stderr).toBe('gatepost: install_code is taken\n');
  });
});

/** Writes the file and imports it. */
function imported(text: string, ...words: string[]) {
  writeFileSync(file, text);
  return link('import', file, ...words);
}

describe('import', () => {
  test('makes five hundred links, and none twice', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => `key-${n},customer ${n},${(n % 5) + 1}`);
    const text = `key,note,limit\n${rows.join('\n')}\n`;
    const check = await imported(text, '--check');
    expect(check.stdout).toBe('500 links of 500 would be added, 0 skipped\n');
    expect((await json('list', '--search', 'customer')).length).toBe(0);
    expect((await imported(text)).stdout).toBe('500 links of 500 added, 0 skipped\n');
    expect(await json('show', 'key:key-499')).toMatchObject({
      note: 'customer 499',
      install_limit: 5,
      has_subscription_key: true,
    });
    const again = await imported(`${text}key-new,,\n`, '--limit', '7');
    expect(again.stdout).toStartWith('1 link of 501 added, 500 skipped\nline 2: subscription_key');
    expect(await json('show', 'key:key-new')).toMatchObject({ install_limit: 7, note: null });
    const foreseen = await imported(text, '--check');
    expect(foreseen.stdout).toStartWith('0 links of 500 would be added, 500 skipped\n');
  });

  test('reads what spreadsheets write', async () => {
    const text =
      '\uFEFFNote;CODE\r\n"Anna; ""VIP""\nsecond line";Customer0001\r\n\r\n;ShortCod\r\nИван;Customer0003';
    const { code, stdout } = await imported(text, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout).links).toEqual([
      {
        line: 2,
        note: 'Anna; "VIP" second line',
        done: 'added',
        id: expect.any(Number),
        install_code: 'Customer0001',
      },
      { line: 5, note: null, done: 'added', id: expect.any(Number), install_code: 'ShortCod' },
      expect.objectContaining({ line: 6, note: 'Иван' }),
    ]);
  });

  test('changes nothing for a file with mistakes, which it names by line', async () => {
    const PLANTED = 'PLANTED-key/';
    const bad = `key,limit\ngood,1\n"${PLANTED}",1\nother,0\nx,1,2\n,3\ngood,2\n`;
    const { code, stdout, stderr } = await imported(bad);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.split('\n').slice(1)).toEqual([
      expect.stringContaining('  line 3: key is not 1 to 256 visible'),
      '  line 4: limit is not a whole number from 1 to 100',
      '  line 5: it has 3 fields, the first row 2',
      '  line 6: it has neither key nor code',
      '  line 7: its key is that of line 2',
      '',
    ]);
    expect(stderr).not.toContain('PLANTED');
    expect((await json('list')).length).toBe(1);
  });

  test.each([
    ['', 'is empty'],
    ['name,key\n', "the first row names 'name'"],
    ['key,key\n', "the first row names 'key' twice"],
    ['note\n', 'the first row names neither key nor code'],
    ['key\n"open\n', 'line 2: a quote is not closed'],
    ['key\nha"lf\n', 'line 2: a quote stands within a field'],
    ['key\n"a"b\n', 'line 2: text follows a closing quote'],
  ])('refuses %j', async (text, part) => {
    const { code, stderr } = await imported(text);
    expect({ code, has: stderr.includes(part) }).toEqual({ code: 1, has: true });
  });

  test('refuses what is no file of text', async () => {
    expect((await link('import', line.dataDir)).stderr).toContain('is no regular file');
    expect((await link('import', `${file}-none`)).stderr).toContain('cannot read');
    writeFileSync(file, new Uint8Array([107, 101, 121, 10, 255]));
    expect((await link('import', file)).stderr).toContain('is not valid UTF-8');
  });

  test('stops at the number of links, and says what was made', async () => {
    await line.run('provider', 'set', 'Provide1', '--max-links', '3');
    const { code, stdout, stderr } = await imported('key\na\nb\nc\nd\n');
    expect(code).toBe(1);
    expect(stdout).toStartWith('2 links of 4 added, 0 skipped\nline 4: Provide1 has reached');
    expect(stderr).toBe('gatepost: Provide1 has reached its 3 links\n');
  });
});
