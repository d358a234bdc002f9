/**
 * What keeps the code base in shape, enforced by reading it. Every ban states its reason; whoever
 * has a better one changes the rule here, not around it.
 */

import { expect, test } from 'bun:test';
import { PANEL_TRAITS } from '../src/core/panel/index.ts';
import { PANELS } from '../src/core/panel/kind.ts';
import { ruleFor } from './support/import-rules.ts';
import { BANNED_WORDS, CLEAN } from './support/plain-words.ts';
import {
  circleIn,
  committedFiles,
  type Import,
  importsOf,
  isThere,
  reachedFrom,
  readText,
} from './support/tree.ts';

const files = committedFiles();
const scripts = files.filter((path) => /\.tsx?$/.test(path));
const sources = scripts.filter((path) => path.startsWith('src/') && !path.endsWith('.d.ts'));

test('imports follow the rules between folders', () => {
  const broken = sources.flatMap((path) => {
    const rule = ruleFor(path);
    if (rule === undefined) return [`${path}: a new folder needs a row in RULES`];
    return importsOf(path)
      .filter(({ specifier, file, isTypeOnly }) => {
        if (file === null) {
          return !rule.packages.some((name) => `${specifier}/`.startsWith(`${name}/`));
        }
        const may = [...rule.ours, ...(isTypeOnly ? (rule.types ?? []) : [])];
        return !may.some((allowed) => file.startsWith(allowed));
      })
      .map(({ specifier }) => `${path} imports ${specifier}: ${rule.reason}`);
  });
  expect(broken).toEqual([]);
});

test('every import names a file that is there', () => {
  const named = scripts.flatMap((path) => importsOf(path).map(({ file }) => ({ path, file })));
  const missing = named.filter(({ file }) => file !== null && !isThere(file));
  expect(named.length).toBeGreaterThan(sources.length);
  expect(missing).toEqual([]);
});

/**
 * The room of a source: a folder, and of the folders directly under src everything inside; a file
 * that lies openly in src or src/core is a room of its own.
 */
function roomOf(path: string): string {
  const [, top = '', second = '', ...rest] = path.split('/');
  if (second === '' || (top === 'core' && rest.length === 0)) return path;
  return top === 'core' ? `src/core/${second}` : `src/${top}`;
}

/** The imports among sources, by whatever `placeOf` a file is known by. */
function importsBetween(placeOf: (path: string) => string): Map<string, Set<string>> {
  const between = new Map<string, Set<string>>();
  for (const path of sources) {
    for (const { file } of importsOf(path)) {
      if (file === null || !sources.includes(file) || placeOf(file) === placeOf(path)) continue;
      const imported = between.get(placeOf(path)) ?? new Set();
      between.set(placeOf(path), imported.add(placeOf(file)));
    }
  }
  return between;
}

test.each([
  ['files', (path: string) => path],
  ['rooms', roomOf],
])('no circle of imports among %s, also of types alone', (_, placeOf) => {
  // Whoever reads one of a circle has to read all of it, and none of it can be taken out.
  const imports = importsBetween(placeOf);
  expect(imports.size).toBeGreaterThan(10);
  expect(circleIn(imports)).toBeNull();
});

test('no dead files: main.ts, or the page of the console, reaches every source', () => {
  // packaging/console.ts bundles the page with a file of texts for each language.
  const languages = sources.filter((path) => path.startsWith('src/console/texts/'));
  const reached = reachedFrom(['src/main.ts', 'src/console/app.tsx', ...languages]);
  expect(sources.filter((path) => !reached.has(path))).toEqual([]);
});

test('a command starts without the server, and without what servers and few commands need', () => {
  const isLoaded = ({ isLazy, isTypeOnly }: Import) => !isLazy && !isTypeOnly;
  const loaded = [...reachedFrom(['src/main.ts'], isLoaded)];
  const packages = loaded.flatMap((path) => importsOf(path).filter(isLoaded));
  // Each of them takes 10 to 50 ms. `bun` is its SQL client, which `Bun.SQL` loads at first use.
  const heavy =
    /^(?:@s\w+|acme-client|age-encryption|bun|elysia|jose|preact|sanitize-html)(?:\/|$)/;
  expect(loaded.length).toBeGreaterThan(100);
  expect(packages.filter(({ specifier }) => heavy.test(specifier))).toEqual([]);
  expect(
    loaded.filter((path) => /^src\/(?:app\.ts$|http\/(?!request)|store\/)/.test(path)),
  ).toEqual([]);
});

test('no dead exports: another file imports each of them', () => {
  const taken = new Set<string>();
  for (const { file, names } of scripts.flatMap(importsOf)) {
    for (const name of names ?? ['*']) taken.add(`${file} ${name}`);
  }
  const pattern = /^export (?:async )?(?:function\*?|const|let|class|type|interface) (\w+)/gm;
  const exported = sources.flatMap((path) =>
    [...readText(path).matchAll(pattern)].map(([, name = '']) => ({ path, name })),
  );
  expect(exported.length).toBeGreaterThan(sources.length);
  expect(
    exported.filter(({ path, name }) => !taken.has(`${path} ${name}`) && !taken.has(`${path} *`)),
  ).toEqual([]);
});

/** Files outside of the core that call a write of the port, each with its reason. */
const WRITERS: Readonly<Record<string, string>> = {
  'src/monitor/tallies.ts': 'it wraps a store, and counts what the core writes',
};

test('only the core changes records: all surfaces call the same function for a change', () => {
  const port = files.filter((path) => path.startsWith('src/core/port/')).map(readText);
  // The methods that change a record take an act.
  const methods = port.flatMap((text) => [
    ...text.matchAll(/^ {2}(\w+)\((?:[^;]|;(?! *$)|;(?=\n {4}))*?\bact: Act\b/gm),
  ]);
  const acts = port.join('\n').match(/\bact: Act\b/g);
  expect(methods.length).toBe(acts?.length ?? 0);
  const writes = new RegExp(`\\bstore\\s*\\.(?:${methods.map(([, name]) => name).join('|')})\\(`);
  const writers = sources.filter(
    (path) => !/^src\/(?:core|store)\//.test(path) && writes.test(readText(path)),
  );
  expect(writers).toEqual(Object.keys(WRITERS));
});

/** Where the name of a panel may stand outside of its file, each with its reason. */
const NAMERS: Readonly<Record<string, string>> = {
  'src/core/app/table.ts': 'Hiddify is an app, too, and a source is named',
  'src/core/phones.ts': 'Hiddify is an app, too',
  'src/demo/phones.ts': 'Hiddify is an app, too',
};

test('a panel is known in its file alone: what is true of one stands in the table of panels', () => {
  const titles = PANELS.map((panel) => PANEL_TRAITS[panel].title);
  const names = new RegExp(`\\b(?:${[...PANELS, ...titles].join('|')})\\b`);
  const others = sources.filter((path) => !path.startsWith('src/core/panel/'));
  const namers = others.filter((path) => names.test(withoutComments(readText(path))));
  expect(namers).toEqual(Object.keys(NAMERS));
});

test('the rules for panels that are the same for all name none', () => {
  const general = sources.filter((path) => path.startsWith('src/core/panel/') && !isOfPanel(path));
  const names = new RegExp(`['"\`/](?:${PANELS.join('|')})\\b`);
  expect(general.length).toBeGreaterThan(10);
  const namers = general.filter((path) => names.test(withoutComments(readText(path))));
  // The table imports the file of each.
  expect(namers).toEqual(['src/core/panel/index.ts']);
});

const isOfPanel = (path: string) => /: PanelTraits = \{/.test(readText(path));

/** Comments name panels as sources and examples. */
const withoutComments = (text: string) =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');

interface Ban {
  pattern: RegExp;
  /** Where it is allowed. */
  except: readonly string[];
  /** Also for tests and bench, which start processes and read their environment. */
  isForAll?: true;
  reason: string;
}

const BANS: readonly Ban[] = [
  {
    pattern: /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)/,
    except: ['src/base/clock.ts'],
    reason: 'the time is read once per request or tick and passed on, so that tests can move it',
  },
  {
    pattern: /\bperformance\.now\b/,
    // How long a lock has been waited for and held: a steady clock, whatever happens to the wall's.
    except: ['src/base/clock.ts', 'src/store/sqlite/writer.ts'],
    reason: 'a second clock is a second time',
  },
  {
    pattern: /\b(?:process|Bun|import\.meta)\.env\b/,
    // fetch itself reads there whether a proxy is to be used, and can be told so nowhere else.
    // Commands beside the server inherit what main left of it; Bun's default is that of the start.
    except: [
      ...['src/main.ts', 'src/outgoing/http2.ts'],
      ...['src/parts/own-program.ts', 'src/backup/shelf.ts'],
    ],
    reason: 'a setting that is read elsewhere is in no table and no document',
  },
  {
    pattern: /\bprocess\.(?:exit|abort|kill|reallyExit)\b/,
    // A program of the operator is ended with whatever it started, as a group.
    except: ['src/main.ts', 'src/base/operator-program.ts'],
    reason: 'a part that ends the program cuts off the writes of all others',
  },
  {
    pattern: /\bstore\.(?!ts\b)\w+(?![\w(])|\.\.\.[\w.]*\bstore\b(?![.(])|\} = [\w.]*\bstore;/,
    except: [],
    reason: 'a store may be a class: a method that is taken off its object has lost it',
  },
  {
    pattern: /\bconsole\.(?:debug|dir|error|info|log|table|trace|warn)\b/,
    except: [],
    reason: 'stdout belongs to the commands (CliContext), stderr to the log',
  },
  {
    pattern: /\bprocess\.std(?:out|err)\.write\b/,
    // The log escapes by itself; questions are texts of the program's own.
    except: ['src/main.ts', 'src/base/log.ts', 'src/cli/confirm.ts', 'src/cli/passphrase.ts'],
    reason: 'runCli escapes the output: text of a file or a device must not control a terminal',
  },
  {
    pattern: /\\u202[ae]/i,
    except: ['src/base/visible.ts'],
    reason: 'one function escapes invisible characters, so that no surface forgets one',
  },
  {
    pattern: /replaceAll\('"', '""'\)|＝/,
    // Names in SQL are quoted alike.
    except: ['src/core/csv.ts', 'src/store/sqlite/file/copy.ts'],
    reason: 'one function writes cells of CSV, so that no surface lets a spreadsheet execute one',
  },
  {
    isForAll: true,
    pattern: /^ *export default\b|\bas default\b/m,
    except: ['migrations/drizzle.config.ts'],
    reason: 'a thing has one name wherever it is used; only tools that ask for a default get one',
  },
  {
    isForAll: true,
    pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/,
    except: ['test/tidy.test.ts'],
    reason: 'what is left to do belongs in an issue, where somebody looks for it',
  },
  {
    isForAll: true,
    pattern: /[^{]\.\.\.\{ /,
    except: [],
    reason: 'a literal that is spread only packs lines: write its fields where they belong',
  },
];

test.each(BANS.map((ban) => [String(ban.pattern), ban] as const))('banned: %s', (_, ban) => {
  const looked = ban.isForAll ? scripts : sources;
  const guilty = looked.filter(
    (path) => !ban.except.includes(path) && ban.pattern.test(readText(path)),
  );
  expect(guilty, ban.reason).toEqual([]);
  expect(ban.except.filter((path) => !ban.pattern.test(readText(path)))).toEqual([]);
});

/** A screenful or a few: whoever opens a file can hold it in mind. */
const FILE_LINES_MAX = 400;
/** Tests and bench: scenarios in a row, read one at a time. */
const TEST_LINES_MAX = 480;
/** Lines of a function's own, without the functions inside it. */
const FUNCTION_LINES_MAX = 90;
const COLUMNS_MAX = 100;

test('files are short', () => {
  const long = scripts.filter((path) => {
    const most = sources.includes(path) ? FILE_LINES_MAX : TEST_LINES_MAX;
    return readText(path).split('\n').length > most;
  });
  expect(long).toEqual([]);
});

const OPENS = [
  /^(?: *)(?:export )?(?:async )?function\b/,
  /=> \(?\{$/,
  /^ +(?:static |async |get |set )*(?!if\b|for\b|while\b|switch\b|catch\b)[#\w]+\(.*\{$/,
];

/** Functions with their own lines. Relies on the common format: a block ends at its indent. */
function functionsOf(path: string): { name: string; lines: number }[] {
  const lines = readText(path).split('\n');
  const found = lines.flatMap((line, start) => {
    if (!OPENS.some((opening) => opening.test(line))) return [];
    const indent = /^ */.exec(line)?.[0] ?? '';
    const rest = lines.slice(start + 1);
    const length = /\}[;,)]*$/.test(line) ? 0 : rest.findIndex((l) => l.startsWith(`${indent}}`));
    return [{ name: line.trim(), start, end: start + 1 + Math.max(length, 0) }];
  });
  return found.map(({ name, start, end }) => {
    const inside = new Set<number>();
    for (const other of found) {
      if (other.start <= start || other.end > end) continue;
      for (let at = other.start; at <= other.end; at++) inside.add(at);
    }
    return { name: `${path}: ${name}`, lines: end - start + 1 - inside.size };
  });
}

test('functions are short', () => {
  const functions = scripts.flatMap(functionsOf);
  const long = functions.filter(
    // Prepared statements and commands one after the other are a table; there is no path to follow.
    ({ name, lines }) =>
      lines > FUNCTION_LINES_MAX && !/function (?:\w*tatements|add\w+Commands)\(/.test(name),
  );
  expect(functions.length).toBeGreaterThan(100);
  expect(long).toEqual([]);
});

test('one function counts: no text has a number before a plural of its own', () => {
  const NOUNS = 'devices|links|users|HWIDs|domains|providers|slots|hours|days|minutes|rows|files';
  const PLURAL = new RegExp(`\\$\\{(?![A-Z_]+\\})[^}]*\\} (?:more )?(?:${NOUNS})\\b`);
  // Other languages count in other ways.
  const FOREIGN = /^src\/console\/texts\/(?:ru|zh|fa)\//;
  // These numbers are never 1, and the last is a verb's subject.
  const ALLOWED = ['disabled.length === 1', 'share === 1', 'too many', 'may open', 'links have'];
  const found = sources
    .filter((path) => !FOREIGN.test(path))
    .flatMap((path) =>
      readText(path)
        .split('\n')
        .filter((line) => PLURAL.test(line) && !ALLOWED.some((part) => line.includes(part)))
        .map((line) => `${path}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});

test('lines are short', () => {
  const tooLong = scripts.flatMap((path) =>
    readText(path)
      .split('\n')
      // A text is not cut in two to please the margin: what can be searched for stays whole.
      .map((line, at) => ({ line, at: at + 1 }))
      .filter(({ line }) => {
        const isComment = /^ *(?:\/?\*|\/\/)/.test(line);
        const code = isComment ? line : line.replace(/'[^']*'|`[^`]*`/g, "''");
        return code.length > COLUMNS_MAX;
      })
      .map(({ at }) => `${path}:${at}`),
  );
  expect(tooLong).toEqual([]);
});

test('files and folders have kebab-case names', () => {
  // Names that tools or readers expect as they are.
  const GIVEN = new RegExp(
    [
      '^(?:Makefile|Dockerfile|Caddyfile|CMakeLists\\.txt|[A-Z]+(?:\\.md)?|README\\.[a-z]{2}(?:-[A-Z]{2})?\\.md',
      '_journal\\.json|gatepost_device(?:\\.dart)?|__init__\\.py|[a-z]+_test\\.go|\\d{4}_\\w+\\.(?:sql|json)|[A-Z][A-Za-z]+\\.(?:java|kt|swift)|Cargo\\.(?:toml|lock))$',
    ].join('|'),
  );
  const KEBAB = /^\.?[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/;
  const parts = new Set(files.flatMap((path) => path.split('/')));
  expect([...parts].filter((part) => !KEBAB.test(part) && !GIVEN.test(part))).toEqual([]);
});

test('the top of the repository holds what belongs there', () => {
  const EXPECTED = new Set(
    [
      ['src', 'migrations', 'test', 'docs', 'packaging', 'bench', 'sdk', 'conformance'],
      ['package.json', 'tsconfig.json', 'bunfig.toml', 'bun.lock', 'Makefile'],
      ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'],
    ].flat(),
  );
  const top = new Set(files.map((path) => path.split('/')[0] ?? ''));
  expect([...top].filter((name) => !name.startsWith('.') && !EXPECTED.has(name))).toEqual([]);
});

/** A release of the program is one of its kits. */
test('the kits have the version of the program', () => {
  const { version } = JSON.parse(readText('package.json'));
  const minor = version.replace(/\.\d+$/, '');
  const named: [string, string][] = [
    ['sdk/c/gatepost.h', `#define GATEPOST_VERSION "${version}"`],
    ['sdk/c/README.md', `find_package(gatepost-device ${minor} REQUIRED)`],
    ['sdk/java/pom.xml', `<version>${version}</version>`],
    ['sdk/java/kotlin/pom.xml', `<version>${version}</version>`],
    ['sdk/java/README.md', `gatepost-device:${version}"`],
    ['sdk/java/README.md', `<version>${version}</version>`],
  ];
  expect(named.filter(([path, text]) => !readText(path).includes(text))).toEqual([]);
  const [own, ofDevice] = readText('sdk/java/kotlin/pom.xml').split('<dependencies>');
  expect(own?.includes(version) && ofDevice?.includes(version)).toBe(true);
});

/** A name that resolves on one network alone makes a clone that works there alone. */
const HOSTS = new Set([
  '127.0.0.1',
  'localhost',
  'www.w3.org',
  'toml.io',
  // The namespace of a pom.
  'maven.apache.org',
  // The default of a setting; nothing asks it until the operator names domains.
  'acme-v02.api.letsencrypt.org',
  'api.telegram.org',
  // Defaults too: asked when the operator has set up a gateway.
  'fcm.googleapis.com',
  'api.push.apple.com',
  'api.sandbox.push.apple.com',
  // A name, not an address: what an access token is for.
  'www.googleapis.com',
  // The public sources of the real panels: test/panels clones what its folder lacks.
  'github.com',
]);
const isExample = (host: string) => /^(?:.*\.)?example(?:\.(?:com|org|net))?$/.test(host);

test('no address but the machine itself and examples', () => {
  const strange = files.flatMap((path) =>
    [...readText(path).matchAll(/\bhttps?:\/\/([A-Za-z0-9.-]+\.[A-Za-z0-9-]+|localhost)/g)]
      .map((match) => match[1] ?? '')
      .filter((host) => !HOSTS.has(host) && !isExample(host))
      .map((host) => `${path}: ${host}`),
  );
  expect(strange).toEqual([]);
});

test('no paths of somebody\u2019s machine', () => {
  const HOME = /(?:^|[\s'"`=(:])\/(?:home|root|Users|work|tmp|mnt|opt\/homebrew)\/[\w.-]/m;
  expect(files.filter((path) => HOME.test(readText(path)))).toEqual([]);
});

test('plain English: no banned word stands in a clean room', () => {
  const own = 'test/support/plain-words.ts';
  const clean = files.filter(
    (path) =>
      // A licence is taken word for word.
      path !== own && !path.endsWith('LICENSE') && CLEAN.some((room) => path.startsWith(room)),
  );
  const found = clean.flatMap((path) =>
    readText(path)
      .split('\n')
      .flatMap((line, n) => {
        const banned = BANNED_WORDS.find(({ pattern }) => pattern.test(line));
        if (banned === undefined) return [];
        return [`${path}:${n + 1}: ${line.trim()} (instead: ${banned.instead})`];
      }),
  );
  expect(found).toEqual([]);
});
