/** The manual page holds every command, option and setting. */

import { afterAll, describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandTree } from '../../packaging/command-tree.ts';
import { manualPage } from '../../packaging/man.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { settingRows } from '../../src/config/settings/index.ts';
import { freshFolder } from '../support/app.ts';
import { testWith } from '../support/needs.ts';

// Nothing is run: only names and descriptions are read.
const program = buildProgram({} as Parameters<typeof buildProgram>[0]);
const tree = commandTree(program);
const page = manualPage('1.2.3', '2026-11-20');
const folder = freshFolder();
afterAll(() => rmSync(folder, { recursive: true }));

function run(...words: string[]): { code: number; stdout: string; stderr: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync(words, {
    env: { ...process.env, LC_ALL: 'C' },
  });
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const commands = tree.map((facts) => [facts.path.join(' '), facts] as const);
const words = [
  ...['serve', 'provider add', 'ready', 'config', 'backup', 'restore', 'doctor'],
  ...['import', 'export', 'openapi', 'audit list', 'audit verify', 'audit head', 'audit export'],
];

test('the tree has the commands that help shows, with their options', () => {
  expect(commands.map(([path]) => path)).toEqual(expect.arrayContaining(words));
  const serve = tree.find(({ path }) => path.join() === 'serve');
  expect(serve?.options.flatMap(({ names }) => names)).toEqual(
    expect.arrayContaining(['--host', '--port', '--first-provider', '--data', '--json', '--help']),
  );
  expect(serve?.options.find(({ names }) => names.includes('--data'))?.value).toBe('directory');
  expect(serve?.options.find(({ names }) => names.includes('--json'))?.value).toBeNull();
});

describe('the manual page', () => {
  /** As roff writes it. */
  const shown = (text: string) => text.replaceAll('-', '\\-');
  const sections = page.split(/^\.SS "gatepost ?/m);

  test('PostgreSQL beside the file, and examples of commands that there are', () => {
    expect(page).toContain('database.url');
    const examples = page.split('.SH EXAMPLES')[1]?.split('.SH ')[0] ?? '';
    const lines = [...examples.matchAll(/^\.EX\n(.*)\n\.EE$/gm)].map(([, line = '']) => line);
    expect(lines.length).toBeGreaterThan(4);
    for (const line of lines) {
      const words = /gatepost (?!gatepost)([a-z-]+(?: add)?)/.exec(line)?.[1];
      expect(commands.map(([path]) => path)).toContain(words as string);
    }
  });

  test.each(commands.slice(1))('%s with every option', (path, { options, about }) => {
    const section = sections.find((text) => text.startsWith(`${shown(path)}"`)) ?? '';
    const missing = options.filter(({ flags }) => !section.includes(`\n\\fB${shown(flags)}\\fR\n`));
    expect(missing).toEqual([]);
    expect(section.toLowerCase()).toContain(shown(about).replaceAll("'", '\\(aq').toLowerCase());
  });

  test('what an option may be, and whether it must be given', () => {
    const section = sections.find((text) => text.startsWith('link qr"')) ?? '';
    expect(section).toContain(
      '\nThe URL of the subscription; {key} in it is the key of the link (required).\n',
    );
    expect(section).toContain('(choices: "plain", "query", "happ", ');
    expect(section).toContain('default: "plain").\n');
  });

  test('every setting by its variable and key', () => {
    const missing = settingRows.filter(([, { env, key }]) => !page.includes(`${env} (${key})`));
    expect(missing).toEqual([]);
  });

  const withGroff = testWith('groff');

  withGroff('groff has nothing to say about it', () => {
    const file = written('gatepost.1', page);
    expect(run('groff', '-ww', '-man', '-Tutf8', '-z', file)).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  withGroff('it reads as it was meant', () => {
    const file = written('gatepost.1', page);
    const text = run('groff', '-man', '-Tascii', '-P-c', '-P-b', '-P-u', file).stdout;
    expect(text).toContain('provider add [options]');
    expect(text).toContain('--first-provider');
    expect(text).not.toContain('\\');
  });
});
