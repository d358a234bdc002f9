/** `gatepost reminder`: copied, added, changed, confirmed, removed, and moved in. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { actOfKey } from '../support/actor.ts';
import { freshFolder } from '../support/app.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { openData } from '../support/links.ts';

let line: CommandLine;
beforeEach(async () => {
  line = commandLine();
  await run('provider', 'add', '--name', 'Shop', '--code', 'Provide1', '--plan', 'enterprise');
});
afterEach(() => line.close());

async function run(...words: string[]): Promise<string> {
  const { code, stderr, stdout } = await line.run(...words);
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
  return stdout;
}
const reminders = async () => JSON.parse(await run('reminder', 'list', '--json'));

test('the five usual ones come switched off, each once', async () => {
  expect(await run('reminder', 'add', '--defaults')).toBe(
    [
      'added, switched off: 1 (before_end 3d), 2 (before_end 1d), ',
      '3 (traffic 80%), 4 (traffic 95%), 5 (after_end 1d)\n',
      'Switch one on: gatepost reminder set ID --enabled yes\n',
    ].join(''),
  );
  expect(await run('reminder', 'add', '--defaults')).toBe('all default reminders are there\n');
  expect(await run('reminder', 'set', '1', '--enabled', 'yes')).toBe(
    `reminder 1 changed
End and traffic of subscriptions were not kept before, and are kept from now on.
`,
  );
  const list = await run('reminder', 'list');
  const [head = '', first] = list.split('\n');
  expect(head.split(/ +/)).toEqual('ID PROVIDER KIND AMOUNT STATE LANGUAGES TEXT'.split(' '));
  expect(first).toMatch(/^ 1 +Provide1 +before_end +3d +on +en,fa,ru,zh +Your/);
  expect(list).toMatch(/\n 5 +Provide1 +after_end +1d +off/);
});

test('one of your own: amounts in units, a text of each language, none of another page', async () => {
  const add = ['reminder', 'add', 'before_end', '36h', '--text', 'en=Hello', '--text', 'RU=Привет'];
  expect(await run(...add, '--push-text', 'full')).toBe('reminder 1 added, switched off\n');
  await run('reminder', 'set', '1', '--amount', '2d', '--text', 'ru=', '--text', 'fa=سلام');
  expect(await reminders()).toMatchObject([
    { kind: 'before_end', amount: 48, push_text: 'full', texts: { en: 'Hello', fa: 'سلام' } },
  ]);
  const refused = async (...words: string[]) => {
    const { code, stderr } = await line.run('reminder', ...words);
    return `${code} ${stderr.split('\n')[0]}`;
  };
  for (const [kind, amount, rule] of [
    ['traffic', '3d', '1% to 100%'],
    ['traffic', '101', '1% to 100%'],
    ['before_end', '45d', '1h to 30d'],
    // Hours or days?
    ['before_end', '3', '1h to 30d'],
    ['after_end', '12h', '0d to 30d'],
  ] as const) {
    expect(await refused('add', kind, amount, '--text', 'en=x')).toBe(
      `2 gatepost: the amount of ${kind} is ${rule}`,
    );
  }
  expect(await refused('add', 'traffic', 'much', '--text', 'en=x')).toBe(
    '2 gatepost: amount is a number with its unit, as 3d, 12h or 80%',
  );
  expect(await refused('set', '1', '--text', 'Hello')).toBe(
    '2 gatepost: --text is a language and its text, as en="Your subscription …"',
  );
  expect(await refused('set', '1', '--text', 'en={name}')).toBe(
    '2 gatepost: texts.en has an unknown placeholder {name}',
  );
  expect(await refused('set', '1', '--text', 'fa={name}')).toBe(
    '2 gatepost: texts.fa has an unknown placeholder {name}',
  );
  expect(await refused('add', 'traffic', '80')).toBe(
    '2 gatepost: give a kind, an amount and --text, or --defaults',
  );
  expect(await refused('set', '1', '--text', 'en=Pay at evil.example')).toBe(
    '2 gatepost: texts.en has an address that is not on a host of support_url or web_page_url',
  );
  expect(await refused('set', '1')).toBe(
    '2 gatepost: nothing to change: give --amount, --text, --push-text or --enabled',
  );
  expect(await run('reminder', 'remove', '1')).toBe('reminder 1 removed\n');
  expect(await reminders()).toEqual([]);
});

test('what a key wrote waits, and is used once it is confirmed', async () => {
  const { store } = await openData(line.dataDir);
  const provider = await store.findProvider('Provide1');
  const own = { kind: 'traffic', amount: 80, pushText: 'neutral', enabled: 1 } as const;
  const of = { providerId: provider?.id ?? 0, texts: { en: 'x' }, createdAtMs: 1, countMax: 10 };
  await store.addReminder({ ...own, ...of }, actOfKey('Provide1'));
  await store.close();
  const from = '2026-11-21T12:00:00Z';
  expect(await reminders()).toMatchObject([{ state: 'waits', texts_from: from }]);
  expect((await line.run('reminder', 'list')).stderr).toBe(
    `An API key wrote the text of reminder 1: it is used from ${from}, or after 'gatepost reminder confirm'.\n`,
  );
  await run('reminder', 'confirm');
  expect(await reminders()).toMatchObject([{ state: 'on', texts_from: null }]);
  expect((await line.run('reminder', 'list')).stderr).toBe('');
});

test('an export takes them along; they come in switched off', async () => {
  await run('provider', 'set', 'Provide1', '--quiet-from', '22:00', '--time-zone', '+03:30');
  await run('reminder', 'add', 'traffic', '80%', '--text', 'en=Hi', '--enabled', 'yes');
  const file = join(freshFolder(), 'export.jsonl');
  await run('export', 'Provide1', file);
  const to = commandLine();
  try {
    const { code, stderr } = await to.run('import', file, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const listed = await to.run('reminder', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { kind: 'traffic', amount: 80, state: 'off', texts: { en: 'Hi' } },
    ]);
    const shown = await to.run('provider', 'show', 'Provide1', '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ quiet_from: '22:00', time_zone: '+03:30' });
  } finally {
    await to.close();
  }
});
