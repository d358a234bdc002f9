/** The documents say what the program does: what can be compared by reading is compared here. */

import { expect, test } from 'bun:test';
import { RIDE_FILES } from '../packaging/ride-files.ts';
import { TABLES } from '../packaging/tables.ts';
import { CONFIG_VARIABLE } from '../src/config/files.ts';
import { exampleFile } from '../src/config/render.ts';
import { SETTINGS } from '../src/config/settings/index.ts';
import { openApiDocument } from '../src/http/document/openapi.ts';
import { STREAM_PATH } from '../src/http/stream/device-stream.ts';
import { committedFiles, isThere, readText } from './support/tree.ts';

const documents = committedFiles().filter((path) => path.endsWith('.md'));

test('every call that a document names is one of the API', () => {
  const known = Object.keys(openApiDocument().paths);
  const named = documents
    .filter((path) => path !== 'CHANGELOG.md')
    .flatMap((path) => readText(path).match(/\/(?:api|remote|device)\/[a-z-]+(?![\w*/.-])/g) ?? []);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((path) => !known.includes(path) && path !== STREAM_PATH)).toEqual([]);
});

test.each(TABLES)('$page has the table $head as the program has it (make generate)', (made) => {
  expect(readText(made.page)).toContain(`\n${made.table}\n`);
});

test('packaging/gatepost.toml is the example file (make generate)', () => {
  expect(readText('packaging/gatepost.toml')).toBe(exampleFile());
});

test.each(Object.entries(RIDE_FILES))(
  'docs/gate/%s has a line for each header that rides (make generate)',
  (name, text) => {
    expect(readText(`docs/gate/${name}`)).toBe(text);
  },
);

/** A name of a setting in the environment, and of the kit in C. */
const CAPITALS = /\bGATEPOST_[A-Z_]*[A-Z]\b/g;

test('no document names a setting that does not exist', () => {
  const known = new Set<string>([
    CONFIG_VARIABLE,
    ...Object.values(SETTINGS).map((row) => row.env),
    ...(readText('sdk/c/gatepost.h').match(CAPITALS) ?? []),
  ]);
  const named = documents.flatMap((path) => readText(path).match(CAPITALS) ?? []);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

/** The lines of all printed configurations: files, and the blocks of pages. */
const printed = committedFiles()
  .filter((path) => /^(?:docs|packaging)\/.*\.(?:md|toml|conf|cfg|yml|yaml)$/.test(path))
  .flatMap((path) => {
    const parts = readText(path).split(/^```.*$/m);
    const blocks = path.endsWith('.md') ? parts.filter((_, at) => at % 2 === 1) : parts;
    return blocks.flatMap((block) => block.split('\n')).map((line) => `${path}: ${line.trim()}`);
  });

test('no printed configuration passes a page of a panel', () => {
  expect(printed).toContain('docs/gate/gatepost.toml: browsers = "refuse"');
  const passing = /: (?:browsers|other_paths) = "pass"|: pass_paths = \[./;
  expect(printed.filter((line) => passing.test(line))).toEqual([]);
});

test.each(documents.filter((path) => path.startsWith('docs/panel-')))(
  '%s says where the page of the panel is reached',
  (path) => {
    const text = readText(path).replaceAll('\n', ' ');
    expect(text).toContain('Gatepost passes ');
    expect(text).toMatch(/panel's own page is reached on (?:the panel's own host|a host name)/);
  },
);

test('every make target that a document names exists', () => {
  const targets = new Set([...readText('Makefile').matchAll(/^([a-z-]+):/gm)].map((m) => m[1]));
  // The changelog names those of its day.
  const current = documents.filter((path) => path !== 'CHANGELOG.md');
  const named = current.flatMap((path) => {
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

/** The anchors of a page's headings, as the forges make them. */
const anchorsOf = (path: string) =>
  new Set(
    [...readText(path).matchAll(/^#+ (.+)$/gm)].map((match) =>
      (match[1] ?? '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

test('every anchor of a link between documents is a heading there', () => {
  const broken = documents
    .filter((path) => path !== 'CHANGELOG.md')
    .flatMap((path) =>
      [...readText(path).matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)]
        .map((match) => ({
          page:
            match[1] === '' ? path : new URL(match[1] ?? '', `file:///${path}`).pathname.slice(1),
          anchor: match[2] ?? '',
        }))
        .filter(({ page, anchor }) => page.endsWith('.md') && !anchorsOf(page).has(anchor))
        .map(({ page, anchor }) => `${path}: ${page}#${anchor}`),
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

test('the table of folders of ARCHITECTURE.md has every folder of src', () => {
  const sources = committedFiles().filter((path) => path.startsWith('src/'));
  const folders = new Set(sources.map((path) => path.replace(/\/[^/]+$/, '')));
  expect([...folders].filter((path) => !architecture.includes(`\`${path}\``))).toEqual([]);
});

test('ARCHITECTURE.md is short', () => {
  expect(architecture.split('\n').length).toBeLessThanOrEqual(132);
});

test('each printed configuration of the server answers strangers quietly', () => {
  const blocks = committedFiles()
    .filter((path) => path === 'README.md' || /^docs\/(?!inside\/).*\.(?:md|toml)$/.test(path))
    .flatMap((path) =>
      [...readText(path).matchAll(/^\[server\]\n((?:.+\n)*)/gm)].map(([, lines = '']) => ({
        path,
        isQuiet: /^strangers = "quiet"/m.test(lines),
      })),
    );
  expect(blocks.length).toBeGreaterThan(8);
  expect(blocks.filter(({ isQuiet }) => !isQuiet)).toEqual([]);
});
