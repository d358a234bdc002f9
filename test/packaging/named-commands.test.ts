/**
 * Every `gatepost …` that documents, messages and comments name is a command, with its options; and
 * every `section.key` that they name is a setting.
 */

import { expect, test } from 'bun:test';
import { commandTree } from '../../packaging/command-tree.ts';
import { RECORDS } from '../../src/call/table.ts';
import { buildProgram } from '../../src/cli/program.ts';
import type { Setting } from '../../src/config/setting.ts';
import { SETTINGS } from '../../src/config/settings/index.ts';
import { activity } from '../../src/console/texts/en/activity.ts';
import { OPERATOR_EVENTS, PROVIDER_EVENTS, TEST_EVENT } from '../../src/core/port/event.ts';
import { committedFiles, readText } from '../support/tree.ts';

const tree = commandTree(buildProgram({} as Parameters<typeof buildProgram>[0]));
const commands = new Map(tree.map((command) => [command.path.join(' '), command]));

/** Returns what is wrong with the words behind `gatepost`; null: nothing. */
function faultOf(text: string): string | null {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const path: string[] = [];
  for (const word of words) {
    if (!commands.has([...path, word].join(' '))) break;
    path.push(word);
  }
  const command = commands.get(path.join(' '));
  const [next = ''] = words.slice(path.length);
  // A group alone is a way to name its commands; `help` is commander's own.
  const isGroup = (command?.children.length ?? 0) > 0;
  if (isGroup && /^[a-z][a-z-]*$/.test(next) && next !== 'help')
    return `no ${[...path, next].join(' ')}`;
  const known = new Set(command?.options.flatMap(({ names }) => names));
  const options = words.flatMap((word) => /^--?[a-z][a-z0-9-]*/.exec(word)?.[0] ?? []);
  const strange = options.filter((option) => !known.has(option) && option !== '--version');
  return strange.length === 0 ? null : `${path.join(' ')} has no ${strange.join(', ')}`;
}

const COMMAND = /^(?:sudo -u \w+ )?(?:\.\/)?gatepost((?: +[^\s`'"|;()&<>,:]+)+)/;
/** Words of prose behind the name of the program, and commands of other programs. */
const PROSE =
  /^ (?:is|itself|as|that|backup FILE)\b|^ (?:--(?:read-only|detach|template|owner|tag))/;

/** Commands of a document: in code between backticks, and at the beginning of lines in blocks. */
function inDocument(text: string): string[] {
  const parts = text.replace(/\\\n\s*/g, '').split(/^\s*```.*$/m);
  const lines = parts.flatMap((part, at) =>
    at % 2 === 1
      ? part
          .split('\n')
          .flatMap(
            (line) => /^\s*(?:\$ )?(?:sudo -u \w+ )?((?:\.\/)?gatepost .*)/.exec(line)?.[1] ?? [],
          )
      : [...part.matchAll(/`([^`]+)`/g)].map((match) => (match[1] ?? '').replace(/\s+/g, ' ')),
  );
  return lines.flatMap((line) => (/^(?:sudo -u \w+ )?(?:\.\/)?gatepost /.test(line) ? [line] : []));
}

/** Commands that texts of the program quote. */
const inSource = (text: string) =>
  [...text.matchAll(/(?:['`]|see |key: |run )(gatepost [a-z][^'`\n]*)/g)].map(
    (match) => match[1] ?? '',
  );

/** Commands of texts that people read, anywhere in a sentence. */
const inSentence = (text: string) =>
  (text.match(/\bgatepost [a-z][^'`"()\n]*/g) ?? []).map(
    (words) => words.split(/[.,:;。，](?:\s|$)/, 1)[0] ?? '',
  );

/** The texts of pages and chats in four languages, and the answers of the API. */
const SENTENCES =
  /^src\/(?:console\/texts|webhook\/telegram|http\/(?:console\/site|gate|messages|my))\b/;

test.each([
  ['documents', (path: string) => path.endsWith('.md') && path !== 'CHANGELOG.md', inDocument],
  ['the program', (path: string) => path.startsWith('src/'), inSource],
  ['what people read', (path: string) => SENTENCES.test(path), inSentence],
  [
    'the package',
    (path: string) => /^packaging\/(?:debian\/|gatepost\.|alerts)/.test(path),
    inSource,
  ],
] as const)('%s', (_, isRead, commandsIn) => {
  const named = committedFiles()
    .filter(isRead)
    .flatMap((path) => commandsIn(readText(path)).map((text) => ({ path, text })));
  expect(named.length).toBeGreaterThan(0);
  const wrong = named.flatMap(({ path, text }) => {
    const words = COMMAND.exec(text)?.[1] ?? '';
    const fault = PROSE.test(words) ? null : faultOf(words);
    return fault === null ? [] : [`${path}: ${text}: ${fault}`];
  });
  expect(wrong).toEqual([]);
});

test('a command or an option that does not exist is found', () => {
  expect(faultOf(' provider add --name x --plan pro')).toBeNull();
  expect(faultOf(' provider rename x')).toBe('no provider rename');
  expect(faultOf(' reload')).toBe('no reload');
  expect(faultOf(' provider add --title x')).toBe('provider add has no --title');
});

const settings = new Set<string>(Object.values(SETTINGS).map(({ key }) => key));
/** Settings whose tables have names of their own: `[gate.text.fr]`. */
const tables = Object.values<Setting<unknown>>(SETTINGS).flatMap((row) =>
  row.tables?.exampleName ? [row.key] : [],
);
const sections = new Set([...settings].flatMap((key) => /^\w+(?=\.)/.exec(key) ?? []));
const NAME = new RegExp(
  `(?<![\\w./@$-])(?:${[...sections].join('|')})(?:\\.[a-z][a-z0-9_]*)+(?![\\w/(-])`,
  'g',
);
/** Names of other kinds: events, entries of the audit log, calls of the console. */
const others = new Set<string>([
  ...[...OPERATOR_EVENTS, ...PROVIDER_EVENTS, TEST_EVENT, ...Object.keys(activity.sentences)],
  ...RECORDS.map(([name]) => name),
]);
/** Files and hosts. */
const FILE = /\.(?:cfg|com|conf|crt|csr|css|db|key|lua|md|pem|sh|sql|toml|tsx?)$/;

/** Returns the names of settings in a text that do not exist. */
const strangeIn = (text: string) =>
  (text.match(NAME) ?? []).filter(
    (name) =>
      !settings.has(name) &&
      ![...settings].some((key) => key.startsWith(`${name}.`)) &&
      !tables.some((key) => name.startsWith(`${key}.`)) &&
      !others.has(name) &&
      !FILE.test(name),
  );

/** The strings of a source; a value within one may be any name. */
const strings = (source: string) =>
  (source.match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? [])
    .map((text) => text.replace(/\$\{[^}]*\}/g, '…'))
    .join('\n');

/** A wrong name on purpose; columns of a statement. */
const ALLOWED = /: server\.prot$|^src\/store\/.*: webhook\.\w+$/;

test('settings', () => {
  const read = committedFiles().filter(
    (path) =>
      /^(?:docs|packaging|src)\/|^[A-Z]+\.md$/.test(path) &&
      !/\.(?:png|ico|woff2)$/.test(path) &&
      path !== 'CHANGELOG.md',
  );
  const strange = read.flatMap((path) => {
    const text = readText(path);
    return strangeIn(/\.tsx?$/.test(path) ? strings(text) : text).map((name) => `${path}: ${name}`);
  });
  expect(strange.filter((one) => !ALLOWED.test(one))).toEqual([]);
});

test('a setting that does not exist is found', () => {
  expect(strangeIn('Set tls.certificate and gate.text, see tls.md.')).toEqual([]);
  expect(strangeIn('Set tls.cert_file and gate.upstreams.')).toEqual([
    'tls.cert_file',
    'gate.upstreams',
  ]);
});
