/** What is generated from the command line holds all of it, and works in its shell. */

import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manualPage } from '../../packaging/man.ts';
import { commandTree } from '../../src/cli/command-tree.ts';
import { completionScript, SHELLS } from '../../src/cli/completion.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { settingRows } from '../../src/config/settings/index.ts';
import { freshFolder } from '../support/app.ts';
import { testWith } from '../support/needs.ts';

setDefaultTimeout(60_000);

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
  ...['serve', 'provider add', 'completion', 'ready', 'config', 'backup', 'restore', 'doctor'],
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
    expect(section).toContain('\nWhere the subscription is fetched (must be given).\n');
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

describe('completion scripts', () => {
  test.each(SHELLS)('%s: every command and option is in it', (shell) => {
    const script = completionScript(shell, program);
    const isIn = (name: string) =>
      script.includes(shell === 'fish' ? name.replace(/^--?/, '') : name);
    const names = tree.flatMap(({ children, options }) => [
      ...children.map((child) => child.name),
      ...options.flatMap((option) => option.names),
    ]);
    expect(names.filter((name) => !isIn(name))).toEqual([]);
  });

  const withBash = testWith('bash');
  const withFish = testWith('fish');
  withBash('bash reads it', () => expect(syntax('bash')).toEqual(['', 0]));
  testWith('zsh')('zsh reads it', () => expect(syntax('zsh')).toEqual(['', 0]));
  withFish('fish reads it', () => expect(syntax('fish')).toEqual(['', 0]));

  function syntax(shell: string): [string, number] {
    const { stderr, code } = run(shell, '-n', written(shell, completionScript(shell, program)));
    return [stderr, code];
  }

  /** What bash offers for the last word; `=` is a word of its own, as bash has it. */
  function bashOffers(...typed: string[]): string[] {
    const file = written('bash', completionScript('bash', program));
    const script = `. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gatepost
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = run('bash', '-c', script, 'bash', file, 'gatepost', ...typed);
    return stdout.split('\n').filter((line) => line !== '');
  }

  /** What fish offers, without its descriptions. */
  function fishOffers(...typed: string[]): string[] {
    const file = written('fish', completionScript('fish', program));
    const line = ['gatepost', ...typed].join(' ').replace(' = ', '=');
    const { stdout } = run('fish', '-N', '-c', `source ${file}; complete -C '${line}'`);
    return stdout.split('\n').flatMap((text) => text.split('\t')[0] || []);
  }

  const some = {
    bash: { testIt: withBash, offers: bashOffers },
    fish: { testIt: withFish, offers: fishOffers },
  };

  describe.each(Object.entries(some))('%s completes', (_, { testIt, offers }) => {
    testIt('commands', () => {
      expect(offers('prov')).toEqual(['provider']);
      expect(offers('provider', 're').toSorted()).toEqual(['remove', 'resume']);
      expect(offers('')).toEqual(expect.arrayContaining(['serve', 'provider', 'completion']));
    });

    testIt('options of the command, also behind values', () => {
      expect(offers('serve', '--h').toSorted()).toEqual(['--help', '--host']);
      expect(offers('provider', 'add', '--name', 'list', '--pl')).toEqual(['--plan']);
      expect(offers('provider', 'add', '--name', '=', 'list', '--pl')).toEqual(['--plan']);
      expect(offers('device', 'show', 'add', '--js')).toEqual(['--json']);
    });

    testIt('arguments', () => {
      expect(offers('completion', '').toSorted()).toEqual(['bash', 'fish', 'zsh']);
      expect(offers('completion', 'z')).toEqual(['zsh']);
      expect(offers('completion', 'bash', 'z')).toEqual([]);
    });

    testIt('directories, and nothing where anything may stand', () => {
      expect(offers('serve', '--data', '/us').map((path) => path.replace(/\/$/, ''))).toContain(
        '/usr',
      );
      expect(offers('provider', 'add', '--name', 'se')).toEqual([]);
    });
  });
});
