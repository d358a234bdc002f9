/** Text from files, panels and devices controls neither a terminal nor a log nor a spreadsheet. */

import { expect, test } from 'bun:test';
import { makeLog } from '../src/base/log.ts';
import { visible, visibleLines } from '../src/base/visible.ts';
import { cellText, csvLine } from '../src/core/csv.ts';
import { commandLine } from './support/command-line.ts';

/** Clears the screen, sets the title, turns the line round, begins a new one, by C1 codes too. */
const SIGNS = ['\u001b[2J', '\u001b]0;x\u0007', '\u202e', '\u2066', '\u009b31m', '\u2028', '\r'];
const SHOWN = ['\\u001b[2J', '\\u001b]0;x\\u0007', '\\u202e', '\\u2066', '\\u009b31m', '\\u2028'];
const BAD = SIGNS.join('');
const SEEN = [...SHOWN, '\\u000d'].join('');

test('each sign is shown; a line feed stays only where lines are meant', () => {
  expect(visible(`${BAD}\n`)).toBe(`${SEEN}\\u000a`);
  expect(visibleLines(`${BAD}\n`)).toBe(`${SEEN}\n`);
});

test('JSON stays JSON of the same value', () => {
  const json = JSON.stringify({ name: BAD });
  expect(JSON.parse(visible(json))).toEqual({ name: BAD });
  expect(visible(json)).not.toMatch(/[\p{Cc}\u2028\u202e\u2066]/u);
});

test.each(['human', 'json'] as const)('a line of the log, %s', (logFormat) => {
  const lines: string[] = [];
  const log = makeLog(
    { logFormat, logLevel: 'info' },
    () => 0,
    (line) => lines.push(line),
  );
  log.warn('event', { name: `a${BAD}` });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toEndWith('\n');
  expect(lines[0]?.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028\u202e\u2066]/u);
  expect(lines[0]).toContain('\\u202e');
});

const MISTAKES = [
  ['an unknown command', [`a${BAD}`]],
  ['a file that is not there', ['import', `a${BAD}`]],
] as const;

test.each(MISTAKES)('%s: stderr shows the signs', async (_, words) => {
  const command = commandLine();
  const { code, stdout, stderr } = await command.run(...words);
  expect(code).not.toBe(0);
  expect(`${stdout}${stderr}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u202e\u2066]/u);
  expect(stderr).toContain('\\u202e');
  command.close();
});

test('an export on a terminal has the signs shown; to another program it goes as it is', async () => {
  const own = commandLine();
  const onTerminal = commandLine({ dataDir: own.dataDir, columns: 80 });
  const add = [
    'provider',
    'add',
    '--code',
    'Provide1',
    '--plan',
    'enterprise',
    '--name',
    'a\u202eb',
  ];
  expect((await own.run(...add)).code).toBe(0);
  const piped = await own.run('export', 'Provide1');
  const shown = await onTerminal.run('export', 'Provide1');
  expect(piped.stdout).toContain('a\u202eb');
  expect(shown.stdout).toContain('a\\u202eb');
  expect(shown.stdout).not.toContain('\u202e');
  const [one, other] = [piped, shown].map(({ stdout }) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
  expect(other).toEqual(one);
  own.close();
});

test('a mistake in a file of links forges no line', async () => {
  const command = commandLine();
  await command.run('provider', 'add', '--code', 'Provide1', '--plan', 'enterprise', '--name', 'n');
  const file = command.secretFile('code,limit,"no\nte: \u001b[2J"\nLinkCode0001,1,x\n');
  const { code, stderr } = await command.run('link', 'import', file, '--provider', 'Provide1');
  expect(code).not.toBe(0);
  expect(stderr).toContain('no\\u000ate: \\u001b[2j');
  command.close();
});

test.each(['=1+1', '+1', '-1', '@x', '＝1+1', '＋1', '－1', '＠x', '\t=1'])(
  'a spreadsheet takes %s for a text, and reading it gives it back',
  (text) => {
    const cell = csvLine([text]).slice(0, -2).replaceAll('"', '');
    expect(cell).toBe(`'${text}`);
    expect(cellText(cell)).toBe(text);
  },
);
