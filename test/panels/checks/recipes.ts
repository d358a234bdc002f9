/** The page of a panel in `docs/`: its lines, as they are printed, with the real panel behind. */

import { expect } from 'bun:test';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signedForm } from '../../../src/core/panel/kind.ts';
import { freePort } from '../../support/free-port.ts';
import { type Installed, install } from '../../support/installed.ts';
import { doorKeyOf, userAt } from '../../support/panel-readers.ts';
import { temporaryFolder } from '../../support/process.ts';
import { runPages, stepsOf } from '../../support/transcript.ts';
import { readText } from '../../support/tree.ts';
import { until } from '../../support/until.ts';
import { askPanel, withCustomers } from '../appliance.ts';
import type { Customer, RealKind, RealPanel } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';

interface Guide {
  /** The addresses of the panel in the guide. */
  panelAt: string;
  /** The port of the links in the guide. */
  port: number;
  database: string;
  /** Tokens of one customer, or its key. */
  keys: readonly string[];
}

const GUIDES: Readonly<Record<RealKind, Guide>> = {
  '3x-ui': {
    panelAt: 'http://127.0.0.1:2097',
    port: 2096,
    database: '/etc/x-ui/x-ui.db',
    keys: ['k7h2m9x4q1w8'],
  },
  marzban: {
    panelAt: 'http://127.0.0.1:8000',
    port: 443,
    database: '/var/lib/marzban/db.sqlite3',
    keys: ['YW5uYSwxNzYwMDAwMDAwkZ3hQ8vT2w', 'YW5uYSwxNzYwMDAwMDk5pR7yT1mQ0d'],
  },
  pasarguard: {
    panelAt: 'http://127.0.0.1:8000',
    port: 443,
    database: '/srv/pasarguard.sql',
    keys: [
      'djMsMiwxNzYwMDAwMDAw.yFux4QxfJsuzMXddA-QtkoWCxTPsL80lH8csZvd11WI',
      'djMsMiwxNzYwMDAwOTk5.JN77oM2KTSyXj9Kv6xUVipMq1TNKeMRersHk3YL6rGA',
    ],
  },
  hiddify: {
    panelAt: 'https://panel.example.com',
    port: 443,
    database: '/srv/hiddify.sql',
    keys: ['3f1c2a5e-8b7d-4c21-9e0f-6a5b4c3d2e1f'],
  },
};

/** The subscription that the guides show; a real one is longer, and another each time. */
const SHOWN = 'dmxlc3M6Ly91c2VyQG5vZGUuZXhhbXBsZS5jb206NDQzI29uZQo=';
/** Prints an answer with servers as the guides show it. */
const SHOWING = (curl: string) => `#!/bin/sh
answer=$(mktemp)
'${curl}' "$@" >"$answer"; code=$?
if { cat "$answer"; base64 --decode "$answer" 2>/dev/null; } |
  grep --text --quiet --extended-regexp '(vless|vmess|trojan|ss)://|"outbounds"|^proxies:'; then
  echo '${SHOWN}'
else
  cat "$answer"
fi
rm "$answer"
exit $code
`;
/** The HWIDs of the guides that the panel knows before; 3x-ui takes none under six characters. */
const HWIDS = { phone: 'phone-01', tablet: 'tablet-01' };

/** Returns the database as the guide has it: the file, or a dump. */
function databaseOf({ database }: RealPanel): string {
  if (database.kind === 'sqlite') return database.file;
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const login = [`--host=${hostname}`, `--port=${port}`, `--user=${username}`];
  const words = ['mariadb-dump', '--no-defaults', ...login, `--password=${password}`];
  const dump = Bun.spawnSync([...words, pathname.slice(1)]);
  expect(String(dump.stderr)).toBe('');
  const file = join(temporaryFolder(), 'dump.sql');
  writeFileSync(file, dump.stdout);
  return file;
}

/** Returns the keys of a customer: a panel that signs makes another one each second. */
async function keysOf({ api, kind }: RealPanel, { key }: Customer): Promise<string[]> {
  if (signedForm(kind) === null) return [key];
  const at = { panel: kind, ...api };
  const later = await until('another token', async () => {
    const { user } = await userAt(at, doorKeyOf(kind, key));
    const now = user?.subscriptionUrl.split('/').at(-1);
    return now !== key && now;
  });
  return [key, later];
}

/** The texts of the guide, and what stands for them here. */
async function insteadOf(
  panel: RealPanel,
  anna: Customer,
  place: Installed,
  own: number,
): Promise<[string, string][]> {
  const { kind } = panel;
  const { panelAt, port, database, keys } = GUIDES[kind];
  const mine = await keysOf(panel, anna);
  return [
    ...place.instead,
    [database, databaseOf(panel)],
    [`port = ${port}`, `port = ${own}`],
    [panelAt, panel.url],
    ...keys.map((key, at): [string, string] => [key, mine[at] ?? key]),
    ...Object.entries(HWIDS).map(([shown, hwid]): [string, string] => [
      `x-hwid: ${shown}`,
      `x-hwid: ${hwid}`,
    ]),
    ...(kind === 'pasarguard'
      ? [['key:pasarguard/2', `key:${doorKeyOf(kind, anna.key)}`] as [string, string]]
      : []),
    ...(kind === 'hiddify' ? [['Wq3mN8', anna.path.split('/')[1] ?? ''] as [string, string]] : []),
  ];
}

export const recipeChecks: Checks = (check, kind) => {
  check('the lines of its page do what they show', (panel) =>
    withCustomers(
      panel,
      [
        { name: 'anna', limit: 2 },
        { name: 'boris', limit: 5 },
      ],
      async (two) => {
        const [anna, boris] = two;
        if (anna === undefined || boris === undefined) throw new Error('no customer');
        for (const hwid of Object.values(HWIDS)) {
          await askPanel(panel, anna.path, { 'x-hwid': hwid });
        }
        const own = freePort();
        const { port } = GUIDES[kind];
        const place = await install('tree', `sub.example.com:${port}:127.0.0.1:${own}`);
        try {
          const curl = join(place.root, 'shims/curl');
          writeFileSync(`${curl}-plain`, readFileSync(curl));
          writeFileSync(curl, SHOWING(`${curl}-plain`));
          chmodSync(`${curl}-plain`, 0o755);
          const instead = await insteadOf(panel, anna, place, own);
          const there = { ...place, instead, cwd: place.root };
          const path = `docs/panel-${kind}.md`;
          const headings = new Set(stepsOf(readText(path)).map(({ heading }) => heading));
          const [first = '', ...rest] = headings;
          expect(await runPages([{ path, heading: first }], there)).toEqual([]);
          // What the table of the page says, by the API: its own limit goes off after the import.
          for (const customer of two) await panel.users.change(customer, { limit: 0 });
          const parts = rest.map((heading) => ({ path, heading }));
          expect(await runPages(parts, there)).toEqual([]);
          return `${stepsOf(readText(path)).length} lines`;
        } finally {
          place.stop();
        }
      },
    ),
  );
};
