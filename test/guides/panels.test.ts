/** The guides of panels do what they show, with a stub of each panel behind Gatepost. */

import { afterEach, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { type Installed, install } from '../support/installed.ts';
import { testWith } from '../support/needs.ts';
import { mysqlDump, pgDump, type Row, writeSqlite } from '../support/panel-tables.ts';
import { keyOf, makeUser, tablesOf } from '../support/panel-world.ts';
import { type PanelKind, type RealPanel, startRealPanel } from '../support/real-panels.ts';
import { difference, runPages, stepsOf } from '../support/transcript.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

interface Guide {
  page: string;
  kind: PanelKind;
  keys: string[];
  /** The address of the panel in the guide. */
  panelAt: string;
  /** The port of the links in the guide, which is Gatepost's or that of a proxy before it. */
  port: number;
  isProxied?: true;
}

const GUIDES: Guide[] = [
  {
    page: 'panel-3x-ui',
    kind: '3x-ui',
    keys: ['k7h2m9x4q1w8'],
    panelAt: '127.0.0.1:2097',
    port: 2096,
  },
  {
    page: 'panel-marzban',
    kind: 'marzban',
    keys: ['YW5uYSwxNzYwMDAwMDAwkZ3hQ8vT2w', 'YW5uYSwxNzYwMDAwMDk5pR7yT1mQ0d'],
    panelAt: '127.0.0.1:8000',
    port: 443,
  },
  {
    page: 'panel-pasarguard',
    kind: 'pasarguard',
    keys: [
      'djMsMiwxNzYwMDAwMDAw.yFux4QxfJsuzMXddA-QtkoWCxTPsL80lH8csZvd11WI',
      'djMsMiwxNzYwMDAwOTk5.JN77oM2KTSyXj9Kv6xUVipMq1TNKeMRersHk3YL6rGA',
    ],
    panelAt: '127.0.0.1:8000',
    port: 443,
  },
  {
    page: 'panel-hiddify',
    kind: 'hiddify',
    keys: ['3f1c2a5e-8b7d-4c21-9e0f-6a5b4c3d2e1f'],
    panelAt: 'https://panel.example.com',
    port: 443,
  },
  {
    page: 'panel-remnawave',
    kind: 'remnawave',
    keys: ['Xy7kQ2mN9pLr4tVw'],
    panelAt: '127.0.0.1:3010',
    port: 443,
    isProxied: true,
  },
];

/** The database of each panel, where the guide has it; Remnawave's comes out of its container. */
const DATABASES = {
  '3x-ui': '/etc/x-ui/x-ui.db',
  marzban: '/var/lib/marzban/db.sqlite3',
  pasarguard: '/srv/pasarguard.sql',
  hiddify: '/srv/hiddify.sql',
} as const;

/** Writes the panel's database: one user has the key of the guide and two devices. */
function writeDatabase({ root }: Installed, { kind, keys }: Guide): [string, string][] {
  const [one, two] = [makeUser(1), makeUser(2)];
  const devices = ['phone', 'tablet'].map((hwid, at) => ({ ...makeUser(9).devices[0], hwid, at }));
  const limitOf = (limit: number) => (kind === 'hiddify' ? 100 : limit);
  const anna = { ...one, name: 'anna', comment: '', limit: limitOf(2), devices } as typeof one;
  const boris = { ...two, name: 'boris', comment: '', limit: limitOf(5), devices: [] };
  const named = (row: Row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        value === keyOf(kind, anna) ? (keys[0] ?? null) : value,
      ]),
    );
  const tables = tablesOf[kind]([anna, boris]).map((table) => ({
    ...table,
    rows: table.rows.map(named),
  }));
  if (kind === 'remnawave') {
    writeFileSync(join(root, 'dump.sql'), pgDump(tables));
    const docker = join(root, 'shims/docker');
    writeFileSync(docker, `#!/bin/sh\nexec cat '${join(root, 'dump.sql')}'\n`);
    chmodSync(docker, 0o755);
    return [];
  }
  const file = join(root, DATABASES[kind]);
  mkdirSync(dirname(file), { recursive: true });
  if (file.endsWith('.sql')) writeFileSync(file, mysqlDump(tables));
  else writeSqlite(file, tables).close();
  return [[DATABASES[kind], file]];
}

/** A proxy with the certificate of the place, as nginx is in the guide of Remnawave. */
function startProxy(place: Installed, port: number, to: number): void {
  const folder = join(place.root, 'etc/letsencrypt/live/sub.example.com');
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    tls: {
      cert: readFileSync(join(folder, 'fullchain.pem')),
      key: readFileSync(join(folder, 'privkey.pem')),
    },
    fetch: ({ url, headers }) => {
      const { pathname, search } = new URL(url);
      const added = { 'x-forwarded-for': '203.0.113.5', 'x-forwarded-proto': 'https' };
      const all = { ...Object.fromEntries(headers), ...added, host: 'sub.example.com' };
      return fetch(`http://127.0.0.1:${to}${pathname}${search}`, { headers: all });
    },
  });
  ends.push(() => server.stop(true));
}

async function start(guide: Guide) {
  const { kind, keys, panelAt, port, isProxied } = guide;
  const panel: RealPanel = await startRealPanel(kind, keys);
  ends.push(panel.stop);
  const [own, linked] = [freePort(), freePort()];
  const place = await install(
    'tree',
    `sub.example.com:${port}:127.0.0.1:${isProxied ? linked : own}`,
  );
  ends.push(place.stop);
  if (isProxied) {
    startProxy(place, linked, own);
    place.env['GATEPOST_PORT'] = String(own);
    Bun.spawnSync([join(place.root, 'shims/systemctl'), 'start'], {
      env: { ...process.env, ...place.env },
    });
  }
  const instead: [string, string][] = [
    ...place.instead,
    ...writeDatabase(place, guide),
    [`port = ${port}`, `port = ${own}`],
    [panelAt, `${panelAt.startsWith('https') ? 'http://' : ''}127.0.0.1:${panel.port}`],
  ];
  return { ...place, instead, cwd: place.root };
}

testWith('bash', 'curl').each(GUIDES)('$page', async (guide) => {
  expect(await runPages([`docs/${guide.page}.md`], await start(guide))).toEqual([]);
});

test('what is shown is compared, but for codes, times and what is left out', () => {
  const at = '$ gatepost link list';
  const text = ['```', at, 'CODE          MADE', 'LINKCODE0001  2026-11-23T03:15:15Z', '```'].join(
    '\n',
  );
  const [{ command = '', shown = [] } = {}] = stepsOf(text);
  expect(command).toBe('gatepost link list');
  expect(difference(shown, 'CODE  MADE\n6jSGRf6xb73g 2027-01-01T00:00:00Z\n')).toBeNull();
  expect(difference(shown, 'CODE  MADE\n6jSGRf6xb73g yesterday\n')).toContain('printed:');
  expect(difference(['one', '…', 'last'], 'one\ntwo\nthree\nlast\n')).toBeNull();
  expect(difference(['one', '…', 'last'], 'one\ntwo\n')).not.toBeNull();
  expect(difference([], 'anything')).toBeNull();
});
