/** Links made many at a time, files of them in pieces, and slices of the list. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const EVERY = { search: null, status: null, isFull: false } as const;
const PAGE = { beyondId: null, countMax: 50, isOldest: false } as const;
/** Notes, and the cells that they become. */
const CELLS = [
  ['=HYPERLINK("http://a.example")', `"'=HYPERLINK(""http://a.example"")"`],
  ['+998 90 000', "'+998 90 000"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ["'=1", "''=1"],
  ["'quoted'", "'quoted'"],
  ['a, b; "c"', '"a, b; ""c"""'],
  ['<img src=x>', '<img src=x>'],
] as const;

async function signedIn() {
  const { code: at, authKey: key } = await seedProvider(app);
  const browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code: at, key });
  return { at, browser };
}

const draftOf = (note: string | null) => ({ key: null, code: null, limit: 2, note });
const listed = async ({ at, browser }: Awaited<ReturnType<typeof signedIn>>) =>
  (await browser.get('links.list', { at, filter: EVERY, ...PAGE, isOldest: true })).rows;

test('a file that is written makes the same links elsewhere; no cell of it is a formula', async () => {
  const here = await signedIn();
  const drafts = CELLS.map(([note]) => draftOf(note));
  const { made } = await here.browser.get('links.add-many', { at: here.at, drafts });
  expect(made.every(({ code, why }) => code?.length === 12 && why === null)).toBe(true);
  const file = await here.browser.get('links.csv', { at: here.at, filter: EVERY, beyondId: null });
  expect([file.count, file.nextId]).toEqual([CELLS.length, null]);
  const [head, ...lines] = file.text.trimEnd().split('\r\n');
  expect(head).toBe('id,code,limit,note,devices,status,created_at,greeting');
  const rest = await here.browser.get('links.csv', {
    at: here.at,
    filter: EVERY,
    beyondId: made[1]?.id ?? 0,
  });
  expect(rest.text).toBe(`${lines.at(-1)}\r\n`);
  for (const [n, [, cell]] of CELLS.entries()) {
    expect(lines.at(-1 - n)).toContain(`,2,${cell},0,active,20`);
  }
  const there = await signedIn();
  const codes = await there.browser.get('links.csv-read', { at: there.at, text: file.text });
  expect(codes.rows.map(({ why }) => why)).toEqual(CELLS.map(() => 'install_code is taken'));
  const text = file.text.replaceAll(/,([A-Za-z0-9]{10})..,2,/g, ',$1xx,2,');
  const read = await there.browser.get('links.csv-read', { at: there.at, text });
  expect([read.mistakes, read.rows.filter(({ why }) => why !== null)]).toEqual([[], []]);
  await there.browser.get('links.add-many', {
    at: there.at,
    drafts: read.rows
      .toReversed()
      .map(({ key, code, limit, note }) => ({ key, code, limit: limit ?? 9, note })),
  });
  const notes = (await listed(there)).map(({ note }) => note);
  expect<(string | null)[]>(notes).toEqual(CELLS.map(([note]) => note));
});

test('a greeting is in the file, and a file sets it; no cell of it is a formula', async () => {
  const { at, browser } = await signedIn();
  const draft = { ...draftOf(null), greeting: '=Анна, 1' };
  const { made } = await browser.get('links.add-many', { at, drafts: [draft] });
  const { text } = await browser.get('links.csv', { at, filter: EVERY, beyondId: null });
  expect(text).toEndWith(`,"'=Анна, 1"\r\n`);
  const code = made[0]?.code ?? '';
  const other = text.replace(code, `${code.slice(2)}zz`);
  const read = await browser.get('links.csv-read', { at, text: other });
  expect(read).toMatchObject({ mistakes: [], rows: [{ greeting: '=Анна, 1', why: null }] });
  const wrong = await browser.get('links.csv-read', { at, text: 'key,greeting\na,x\u202Ey\n' });
  expect(wrong.mistakes[0]?.what).toContain('greeting is not one line');
});

test('mistakes are said by line; a first row that names other columns ends it', async () => {
  const { at, browser } = await signedIn();
  const text = 'key,limit,note\nabc,3,one\nabc,3,two\nd,101,three\n,3,four\ne,,five\n';
  const read = await browser.get('links.csv-read', { at, text });
  expect(read.mistakes).toEqual([
    { line: 3, what: 'its key is that of line 2' },
    { line: 4, what: 'limit is not a whole number from 1 to 100' },
    { line: 5, what: 'it has neither key nor code' },
  ]);
  expect(read.rows.map(({ line, limit }) => [line, limit])).toEqual([
    [2, 3],
    [6, null],
  ]);
  const odd = await browser.get('links.csv-read', { at, text: 'name,mail\na,b\n' });
  expect(odd).toMatchObject({ rows: [], mistakes: [{ line: 1 }] });
  const many = `code\n${'a\n'.repeat(600)}`;
  expect(await browser.refusal('links.csv-read', { at, text: many })).toBe('malformed');
  expect(await browser.refusal('links.csv-read', { at, text: 'x'.repeat(20_001) })).toBe(
    'malformed',
  );
});

test('no more links than the provider may have; a code that is taken is skipped', async () => {
  const { at, browser } = await signedIn();
  const act = { actor: app.core.actor(), atMs: app.clock.nowMs() };
  await app.core.store.updateProvider(at, { installCountMax: 2 }, act);
  const one = { ...draftOf('one'), code: `Taken${at.slice(0, 7)}` };
  const { made, isStopped } = await browser.get('links.add-many', {
    at,
    drafts: [one, one, draftOf(null), draftOf(null)],
  });
  expect(isStopped).toBe(true);
  expect(made.map(({ why }) => why)).toEqual([
    ...[null, 'install_code is taken', null, `${at} has reached its 2 links`],
  ]);
  expect((await listed({ at, browser })).length).toBe(2);
});

test('a draft of another form makes none of them', async () => {
  const { at, browser } = await signedIn();
  const wrong = { ...draftOf('two'), limit: 101 };
  const outcome = await browser.call('links.add-many', { at, drafts: [draftOf('one'), wrong] });
  expect(outcome).toEqual({
    refused: 'malformed',
    detail: 'limit must be a whole number from 1 to 100',
  });
  // Only the command line joins links: the key of a bot opens the console too.
  const joining = { ...draftOf('three'), joins: true };
  expect(await browser.refusal('links.add-many', { at, drafts: [joining] })).toBe('malformed');
  const many = Array.from({ length: 101 }, () => draftOf(null));
  expect(await browser.refusal('links.add-many', { at, drafts: many })).toBe('malformed');
  expect(await listed({ at, browser })).toEqual([]);
});

test('rows by id are the own ones, by status those that have it; without a subscription none is made', async () => {
  const [here, there] = [await signedIn(), await signedIn()];
  const drafts = [draftOf('a'), draftOf('b')];
  const { made } = await here.browser.get('links.add-many', { at: here.at, drafts });
  const ids = made.map(({ id }) => id ?? 0);
  const byId = { filter: EVERY, ...PAGE, ids };
  const own = await here.browser.get('links.list', { at: here.at, ...byId });
  expect(own.rows.map(({ note }) => note)).toEqual(['b', 'a']);
  expect(own.allCount).toBe(2);
  await here.browser.get('links.edit', { at: here.at, id: ids[1] ?? 0, status: 5 });
  const notesBy = async (status: 5 | 10) => {
    const filter = { ...EVERY, status };
    const { rows } = await here.browser.get('links.list', { at: here.at, filter, ...PAGE });
    return rows.map(({ note }) => note);
  };
  expect([await notesBy(5), await notesBy(10)]).toEqual([['b'], ['a']]);
  const foreign = await there.browser.get('links.list', { at: there.at, ...byId });
  expect(foreign.rows).toEqual([]);
  const act = { actor: app.core.actor(), atMs: app.clock.nowMs() };
  await app.core.store.updateProvider(here.at, { activeUntilMs: 1 }, act);
  expect(await here.browser.refusal('links.add-many', { at: here.at, drafts })).toBe(
    'subscription_required',
  );
});

test('a piece and drafts of long notes in any script have room', async () => {
  const { at, browser } = await signedIn();
  const note = 'ж'.repeat(250);
  const lines = Array.from({ length: 60 }, (_, n) => `longnote${n + 10},${note}`);
  const { rows, mistakes } = await browser.get('links.csv-read', {
    at,
    text: ['code,note', ...lines].join('\n'),
  });
  expect([rows.length, mistakes]).toEqual([60, []]);
  const drafts = rows.map(({ code, key }) => ({ code, key, limit: 1, note }));
  const { made } = await browser.get('links.add-many', { at, drafts });
  expect(made.filter(({ why }) => why === null)).toHaveLength(60);
});
