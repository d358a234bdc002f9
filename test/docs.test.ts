/** The documents say what the program does: what can be compared by reading is compared here. */

import { expect, test } from 'bun:test';
import { CONFIG_VARIABLE } from '../src/config/load.ts';
import { exampleFile, settingsTable } from '../src/config/render.ts';
import { SETTINGS } from '../src/config/settings/index.ts';
import { answersOf, type Endpoint, isNeeded } from '../src/http/endpoint.ts';
import { endpoints } from '../src/http/endpoints/index.ts';
import { messages } from '../src/http/messages.ts';
import { committedFiles, isThere, readText } from './support/tree.ts';

/** The rows of the first table in `text` whose head begins with `head`, as trimmed cells. */
function tableRows(text: string, head: string): string[][] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  if (start < 0) return [];
  const rest = lines.slice(start + 2);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end < 0 ? undefined : end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

/** The part of a document under a heading of the second level. */
function section(text: string, heading: string): string {
  return text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
}

const api = readText('docs/api.md');
const apiSection = (endpoint: Endpoint) => section(api, `${endpoint.method} \`${endpoint.path}\``);
const byPath = endpoints.map((endpoint) => [endpoint.path, endpoint] as const);

test.each(byPath)('docs/api.md has every message of %s, and no other', (_, endpoint) => {
  const rows = tableRows(apiSection(endpoint), '`msg`');
  const documented = rows.map(([msg, rc]) => `${rc} ${msg}`);
  const given = answersOf(endpoint).map((key) => `${messages[key].rc} \`${messages[key].msg}\``);
  // Several keys may say the same, with another detail each.
  expect(documented.toSorted()).toEqual([...new Set(given)].toSorted());
});

test.each(byPath)('docs/api.md has every parameter of %s with its rule', (_, endpoint) => {
  const isTold = Object.values(endpoint.params).some(({ header }) => header !== undefined);
  const shared = isTold ? section(api, 'Calls that apps make') : '';
  const own = tableRows(apiSection(endpoint), 'Parameter');
  const all = [...own, ...tableRows(shared, 'Parameter')];
  const names = Object.keys(endpoint.params);
  expect(all.map(([name]) => name).toSorted()).toEqual(names.map((n) => `\`${n}\``).toSorted());
  for (const [name, param] of Object.entries(endpoint.params)) {
    const [, middle = '', rule = ''] = all.find(([cell]) => cell === `\`${name}\``) ?? [];
    expect(`${name}: ${rule}`).toStartWith(`${name}: ${param.rule}`);
    if (param.header) expect(middle).toBe(`\`${param.header}\``);
    else expect([name, middle === 'yes']).toEqual([name, isNeeded(endpoint, param)]);
  }
});

const forDevices = byPath.filter(([path]) => path.startsWith('/device/'));

test.each(forDevices)('docs/device-protocol.md has every message of %s', (_, endpoint) => {
  const protocol = readText('docs/device-protocol.md');
  const rows = tableRows(section(protocol, `${endpoint.method} \`${endpoint.path}\``), '`msg`');
  const given = answersOf(endpoint).map((key) => `\`${messages[key].msg}\` ${messages[key].rc}`);
  expect(rows.map(([msg, rc]) => `${msg} ${rc}`).toSorted()).toEqual(given.toSorted());
});

test('docs/api.md describes no endpoint that does not exist', () => {
  const described = [...api.matchAll(/^## ([A-Z]+) `([^`]+)`$/gm)].map((m) => `${m[1]} ${m[2]}`);
  expect(described.toSorted()).toEqual(endpoints.map((e) => `${e.method} ${e.path}`).toSorted());
});

test('docs/api.md quotes only details that the program gives', () => {
  const needs = endpoints.flatMap(({ params }) =>
    Object.entries(params).flatMap(([name, { neededWithout }]) =>
      neededWithout ? [`${neededWithout.other} or ${name} is required`] : [],
    ),
  );
  const own = Object.values(messages).flatMap(({ detail }) => detail ?? []);
  const details = new Set([...own, ...needs]);
  const source = readText('src/http/endpoints/messaging.ts');
  const quoted = endpoints.flatMap((endpoint) =>
    tableRows(apiSection(endpoint), '`msg`').flatMap(([, , , cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
    ),
  );
  expect(quoted.length).toBeGreaterThan(0);
  expect(quoted.filter((text) => !details.has(text) && !source.includes(`'${text}'`))).toEqual([]);
});

test('docs/configuration.md has the table of settings (make generate)', () => {
  expect(readText('docs/configuration.md')).toContain(`\n${settingsTable()}\n`);
});

test('packaging/gatepost.toml is the example file (make generate)', () => {
  expect(readText('packaging/gatepost.toml')).toBe(exampleFile());
});

const documents = committedFiles().filter((path) => path.endsWith('.md'));

test('no document names a setting that does not exist', () => {
  const known = new Set<string>([
    CONFIG_VARIABLE,
    ...Object.values(SETTINGS).map((row) => row.env),
  ]);
  const named = documents.flatMap(
    (path) => readText(path).match(/\bGATEPOST_[A-Z_]*[A-Z]\b/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('every make target that a document names exists', () => {
  const targets = new Set([...readText('Makefile').matchAll(/^([a-z-]+):/gm)].map((m) => m[1]));
  const named = documents.flatMap((path) => {
    const fenced = readText(path)
      .split(/^```.*$/m)
      .filter((_, at) => at % 2 === 1);
    const inBlocks = fenced.join('\n').matchAll(/^(?:\$ )?make ([a-z-]+)/gm);
    const inProse = readText(path).matchAll(/`make ([a-z-]+)/g);
    return [...inBlocks, ...inProse].map((match) => match[1] ?? '');
  });
  expect(named).toContain('run');
  expect(named).toContain('test');
  expect(named.filter((target) => !targets.has(target))).toEqual([]);
});

test('every link between documents leads somewhere', () => {
  const broken = documents.flatMap((path) =>
    [...readText(path).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
      .map((match) => new URL(match[1] ?? '', `file:///${path}`).pathname.slice(1))
      .filter((target) => !isThere(target))
      .map((target) => `${path}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test('CHANGELOG.md begins with the version of package.json, or with what comes after it', () => {
  const { version } = JSON.parse(readText('package.json'));
  const headings = [...readText('CHANGELOG.md').matchAll(/^## (\S+)/gm)].map((match) => match[1]);
  expect(headings.filter((heading) => heading !== 'Unreleased')[0]).toBe(version);
});

const architecture = readText('ARCHITECTURE.md');

test('every path that ARCHITECTURE.md names exists', () => {
  const named = [...architecture.matchAll(/`((?:src|test|migrations|docs|bench)\/[^`\s]*)`/g)];
  expect(named.length).toBeGreaterThan(20);
  expect(named.map((match) => match[1] ?? '').filter((path) => !isThere(path))).toEqual([]);
});

test('the code map of ARCHITECTURE.md has every folder of src, and every file directly in it', () => {
  const inSrc = committedFiles().filter((path) => path.startsWith('src/'));
  const folders = inSrc.map((path) => path.replace(/[^/]+$/, ''));
  const top = inSrc.filter((path) => /^src\/[^/]+$/.test(path));
  const expected = [...new Set([...folders, ...top])].filter((path) => path !== 'src/');
  const filled = expected.filter((path) => inSrc.some((file) => isIn(file, path)));
  expect(filled.filter((path) => !architecture.includes(`\`${path}\``))).toEqual([]);
});

/** Is `file` the path itself, or directly in the folder that it names? */
function isIn(file: string, path: string): boolean {
  return file === path || (path.endsWith('/') && file.replace(/[^/]+$/, '') === path);
}
