/** Links by code, id, key or note, and commands for many links. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';
import { addLink, addProvider, CODE, knock, provider } from '../store/contract/fixture.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink, openData } from '../support/links.ts';

let line: CommandLine;
let answers: (string | null)[];
/** The id of link `Spring000002`. */
let id: number;
beforeEach(async () => {
  answers = [];
  line = commandLine({ answers });
  id = await makeLink(line.dataDir, async ({ store }, { providerId }) => {
    await knock(store, 'phone');
    await knock(store, 'tablet');
    await addLink(store, providerId, { installCode: 'Spring000001', note: 'spring' });
    const second = await addLink(store, providerId, {
      installCode: 'Spring000002',
      note: 'Spring offer, 2',
    });
    const { id: other } = await addProvider(store, 'Provide2');
    await addLink(store, other, { installCode: '123456789012', note: 'by\u001bnumber' });
    return second;
  });
});
afterEach(() => line.close());

async function makeMany(count: number): Promise<void> {
  const { store } = await openData(line.dataDir);
  const { id: providerId } = await provider(store, 'Provide1');
  const added = Array.from({ length: count }, (_, n) => {
    const installCode = `Many${String(n).padStart(8, '0')}`;
    return addLink(store, providerId, { installCode, note: 'many', installCountMax: 1_000 });
  });
  await Promise.all(added);
  await store.close();
}

/** Changes the database behind the program's back. */
function run(sql: string): void {
  const db = new Database(join(line.dataDir, DATABASE_FILE));
  db.run(sql);
  db.close();
}

const link = (...words: string[]) => line.run('link', ...words);

async function json(...words: string[]) {
  const { code, stdout, stderr } = await link(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('a link is named', () => {
  test('by its code, its id or a part of its note', async () => {
    const named = async (name: string) => (await json('show', name)).install_code;
    expect(await named('Spring000002')).toBe('Spring000002');
    expect(await named(`#${id}`)).toBe('Spring000002');
    expect(await named(`${id}`)).toBe('Spring000002');
    expect(await named('OFFER')).toBe('Spring000002');
    // Digits that are a code name it, whatever the ids are.
    expect(await named('123456789012')).toBe('123456789012');
  });

  test('by a whole note, although it is part of another', async () => {
    expect((await json('show', 'spring')).install_code).toBe('Spring000001');
  });

  test('by a part of several notes: the candidates are listed', async () => {
    const { code, stderr } = await link('show', 'prin');
    const found = [
      'Spring000002 of Provide1 (Spring offer, 2)',
      'Spring000001 of Provide1 (spring)',
    ];
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `gatepost: 'prin' is in several notes: ${found.join(', ')}\n`,
    });
  });

  test('by nothing that fits', async () => {
    for (const name of ['winter', '#999', 'Nothing00001', 'a\u2066b']) {
      const { code, stderr } = await link('show', name);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^gatepost: there is no link '.+': see 'gatepost link list'\n$/);
    }
    expect((await link('show', 'n'.repeat(65))).code).toBe(2);
  });

  test('in device list too', async () => {
    const listed = await line.run('device', 'list', '--link', 'note', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ hwid: 'tablet' }, { hwid: 'phone' }]);
  });
});

describe('many links', () => {
  const spring = ['--search', 'spring'];

  test('are shown before they change, and change after a yes', async () => {
    answers.push('n', 'y');
    const refused = await link('set', ...spring, '--limit', '5');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/Spring000002.*\n.*Spring000001[\s\S]*nothing was changed\n$/);
    expect(await json('show', 'Spring000001')).toMatchObject({ install_limit: 2 });
    const { code, stdout } = await link('set', ...spring, '--limit', '5');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '2 links changed\n' });
    expect(line.questions).toEqual(['Change 2 links? [y/N] ', 'Change 2 links? [y/N] ']);
    const listed: { install_limit: number }[] = await json('list', '--all');
    expect(listed.map((row) => row.install_limit).sort()).toEqual([2, 2, 5, 5]);
  });

  test('that refuse are named, and the others change', async () => {
    expect(await json('set', '--all', '--limit', '1', '--yes')).toEqual({
      done: 'changed',
      count: 3,
      install_codes: ['123456789012', 'Spring000002', 'Spring000001'],
      refused: [{ install_code: CODE, why: expect.stringContaining('has more HWIDs than that') }],
    });
    const { stdout } = await link('set', '--full', '--limit', '1', '--yes');
    expect(stdout).toMatch(/^0 links changed, 1 not:\nLinkCode0001: link /);
  });

  test('are disabled and enabled', async () => {
    await json('disable', ...spring, '--yes');
    const disabled: { install_code: string }[] = await json('list', '--disabled');
    expect(disabled.map((row) => row.install_code)).toEqual(['Spring000002', 'Spring000001']);
    expect((await link('enable', '--disabled', '--yes')).stdout).toBe('2 links enabled\n');
    expect(await json('list', '--disabled')).toEqual([]);
    expect((await link('disable', `#${id}`)).stdout).toBe('Spring000002 disabled\n');
  });

  test.each([
    ['set', ['--limit', '7'], 'BEFORE UPDATE ON install', 'changed'],
    ['remove', [], 'BEFORE DELETE ON install', 'removed'],
  ])('are counted if link %s stops at a fault', async (word, more, when, done) => {
    await makeMany(120);
    const isBad = "OLD.install_code = 'Many00000060'";
    run(`CREATE TRIGGER stop ${when} WHEN ${isBad} BEGIN SELECT RAISE(ABORT, 'bad'); END`);
    const { code, stdout, stderr } = await link(word, '--search', 'many', ...more, '--yes');
    run('DROP TRIGGER stop');
    expect(code).toBe(1);
    expect(stderr).toContain('bad');
    const left: { install_limit: number }[] = await json(
      'list',
      '--search',
      'many',
      '--limit',
      '200',
    );
    const count = left.filter((row) => row.install_limit !== 7).length;
    expect(count).toBeGreaterThan(20);
    expect(stdout).toBe(`${120 - count} links ${done}\n`);
  });

  test('are never all of them by oversight', async () => {
    for (const words of [
      ['set', '--limit', '3'],
      ['disable'],
      ['disable', CODE, '--all'],
      ['set', '--all', '--key', 'panel-key'],
      ['disable', '--active', '--disabled'],
    ]) {
      expect((await link(...words, '--yes')).code).toBe(2);
    }
    expect(await json('list', '--disabled')).toEqual([]);
  });
});
