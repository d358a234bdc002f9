/**
 * An installation of 0.17.0 in front of all five panels: the file that its pages printed, and the
 * devices that it let in. Its database is `test/e2e/installed-by-0-17-0.sql`, made by that release.
 */

import { type PanelKind, type RealPanel, startRealPanel } from './real-panels.ts';
import { digestToken, macToken } from './signing-panel.ts';

/** The users in each panel's database: `boris` is disabled there, `clara` has no limit. */
export type User = 'anna' | 'boris' | 'clara' | 'dora';

export interface Site {
  kind: PanelKind;
  host: string;
  /** The code of its provider. */
  code: string;
  /** The lines of its page, behind host, address and provider. */
  lines: string;
  keys: Readonly<Record<User, string>>;
  /** What stands before a key in the address of a subscription, and behind it. */
  around: readonly [string, string];
}

const UUIDS = {
  anna: '3f1c2a5e-8b7d-4c21-9e0f-6a5b4c3d2e1f',
  boris: '7a0e4d18-52c6-4f3b-8d9a-1b2c3d4e5f60',
  clara: 'c4d5e6f7-0819-4a2b-9c3d-4e5f60718293',
  dora: 'e8f90a1b-2c3d-4e4f-8a5b-6c7d8e9fa0b1',
};
const digest = (name: string) => digestToken(`${name},1760000000`);
const mac = (id: number) => macToken(`v3,${id},1760000000`);

export const SITES: readonly Site[] = [
  {
    kind: 'remnawave',
    host: 'remnawave.example.com',
    code: 'SHOPREMN',
    lines: `key_path = ["/{key}"]
pass_paths = ["/assets/*", "/locales/*"]
default_limit = 2
browsers = "pass"`,
    keys: {
      anna: 'Xy7kQ2mN9pLr4tVw',
      boris: 'Bt5nW8qZ3xKc6yHj',
      clara: 'Cf2dR7vM4gPs9eUa',
      dora: 'Dh6jT1wL8bNz3oQi',
    },
    around: ['/', ''],
  },
  {
    kind: '3x-ui',
    host: 'xui.example.com',
    code: 'SHOPXUI1',
    lines: `key_path = ["/sub/{key}", "/json/{key}", "/clash/{key}"]
default_limit = 2
enforce = true`,
    keys: { anna: 'k7h2m9x4q1w8', boris: 'p3n8v5c2z6t1', clara: 'r4e8w2q6y9u1', dora: 'Elena0002' },
    around: ['/sub/', ''],
  },
  {
    kind: 'pasarguard',
    host: 'pasarguard.example.com',
    code: 'SHOPPASA',
    lines: `key = "pasarguard"
default_limit = 2
browsers = "pass"`,
    keys: { anna: mac(1), boris: mac(2), clara: mac(3), dora: mac(4) },
    around: ['/sub/', ''],
  },
  {
    kind: 'marzban',
    host: 'marzban.example.com',
    code: 'SHOPMARZ',
    lines: `key = "marzban"
default_limit = 2
browsers = "pass"`,
    keys: {
      anna: digest('anna'),
      boris: digest('boris'),
      clara: digest('clara'),
      dora: digest('dora'),
    },
    around: ['/sub/', ''],
  },
  {
    kind: 'hiddify',
    host: 'hiddify.example.com',
    code: 'SHOPHIDD',
    lines: `host_header = "upstream"
key_path = ["/Wq3mN8/{key}"]
default_limit = 2
browsers = "pass"`,
    keys: UUIDS,
    around: ['/Wq3mN8/', '/auto'],
  },
];

export function pathOf({ keys, around: [before, behind] }: Site, user: User): string {
  return `${before}${keys[user]}${behind}`;
}

interface Guest {
  host: string;
  path: string;
  hwid: string;
}

/** The devices that hold a slot, by the request with which they come. */
export const GUESTS: readonly Guest[] = SITES.flatMap((site) => {
  const at = (user: User, hwid: string) => ({ host: site.host, path: pathOf(site, user), hwid });
  const capitals = { ...at('anna', 'laptop'), path: `/Wq3mN8/${UUIDS.anna.toUpperCase()}/auto` };
  return [
    ...[at('anna', 'phone'), at('anna', 'tablet')],
    // No page of a panel says that `null` is no HWID, and 0.17.0 took it for one.
    ...[at('clara', 'null'), at('clara', 'x')],
    // No import brought `dora`: the panel's answer made the link.
    at('dora', 'phone'),
    ...(site.kind === 'hiddify' ? [capitals] : []),
  ];
});

export interface Panels {
  /** The file, with the addresses that the panels have here. */
  file: string;
  stop(): void;
}

/** Starts a panel behind each host, which serves the keys of its users. */
export async function startPanels(replaced: Record<string, string> = {}): Promise<Panels> {
  const panels: RealPanel[] = [];
  const parts: string[] = [];
  for (const { kind, host, code, lines, keys } of SITES) {
    const capitals = kind === 'hiddify' ? [keys.anna.toUpperCase()] : [];
    const panel = await startRealPanel(kind, [...Object.values(keys), ...capitals]);
    panels.push(panel);
    const own = replaced[kind] ?? lines;
    parts.push(`[[gate.upstream]]
host = "${host}"
url = "http://127.0.0.1:${panel.port}"
provider = "${code}"
${own}
`);
  }
  const stop = () => {
    for (const one of panels) one.stop();
  };
  // A panel behind a proxy that speaks HTTPS, as that of Remnawave demands.
  const head = '[server]\ntrusted_proxies = ["127.0.0.1"]\n\n[gate]\nproxies = []\n';
  return { file: `${head}\n${parts.join('\n')}`, stop };
}
