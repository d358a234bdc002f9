/** The requests at each door: those of the party with many connections, and those of the others. */

import { authKey, providerCode, SCATTER_FACTOR, SCATTER_MODULUS, type Shape } from './shape.ts';

/** The host of a panel that Gatepost is the proxy of. */
export const PANEL_HOST = 'panel.bench.example';
/** A host that a proxy asks `/gate` about. */
export const GATE_HOST = 'sub.bench.example';
/** The party with many connections is the first of the providers, the others are the rest. */
export const SHAPE: Shape = {
  name: 'fairness',
  providerCount: 13,
  linkCount: 65_000,
  deviceCount: 13_000,
  run: 1,
};

export interface Door {
  name: string;
  /**
   * A request of the party; in it `{n}` stands for a number that never comes twice, `{code}` for
   * the code of one of its links.
   */
  noise: string;
  /** A request of one of the others, by the number of its provider. */
  call(provider: number): string;
  /** Regular expression of an answer that is no refusal. */
  good: string;
}

function get(target: string, from: number, headers: Record<string, string> = {}): string {
  const all = { Host: 'localhost', 'X-Forwarded-For': `192.0.2.${from}`, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const who = (provider: number) =>
  `provider_code=${providerCode(provider)}&auth_key=${authKey(provider)}`;

const device = (hwid: string) => ({
  'x-hwid': hwid,
  'x-device-os': 'Android',
  'x-ver-os': '16',
  'x-device-model': 'Bench Phone',
});

/** The first device that is on a link of a provider. */
function deviceOf(provider: number): number {
  const { deviceCount, linkCount, providerCount } = SHAPE;
  for (let n = 1; ; n++) {
    if ((((n * linkCount) / deviceCount - 1) % providerCount) + 1 === provider) return n;
  }
}
const linkOf = (number: number) => (number * SHAPE.linkCount) / SHAPE.deviceCount;
const codeOf = (link: number) =>
  `gp${String((link * SCATTER_FACTOR) % SCATTER_MODULUS).padStart(10, '0')}`;
const hwidOf = (number: number) =>
  `${((number * SCATTER_FACTOR) % SCATTER_MODULUS).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;

const atGate = (from: number, code: string, hwid: string) =>
  get('/gate', from, {
    'X-Forwarded-Host': GATE_HOST,
    'X-Original-URI': `/s?installid=${code}`,
    'X-Original-Method': 'GET',
    ...device(hwid),
  });

const atPanel = (from: number, key: string, hwid: string) =>
  get(`/s/${key}`, from, { Host: PANEL_HOST, ...device(hwid) });

export const DOORS: readonly Door[] = [
  {
    name: 'writes',
    noise: get(`/api/add-install?${who(1)}&install_limit=1`, 1),
    call: (n) => get(`/api/add-install?${who(n)}&install_limit=1`, n),
    good: '"rc":1,',
  },
  {
    name: 'changes',
    noise: get(`/api/add-domain?${who(1)}&domain_hash=${'a'.repeat(64)}&domain_name={n}`, 1),
    call: (n) => get(`/api/add-domain?${who(n)}&domain_hash=${'a'.repeat(64)}&domain_name={n}`, n),
    good: '"rc":[12],',
  },
  {
    name: 'lists',
    noise: get(`/api/list-install?${who(1)}`, 1),
    call: (n) => get(`/api/list-install?${who(n)}&id=${SHAPE.providerCount + n}`, n),
    good: '"rc":1,',
  },
  {
    name: 'stats',
    noise: get(`/api/stats?${who(1)}&days=366`, 1),
    call: (n) => get(`/api/stats?${who(n)}&days=30`, n),
    good: '"rc":1,',
  },
  {
    name: 'gate',
    noise: atGate(1, '{code}', 'noise-{n}'),
    call: (n) => atGate(n, codeOf(linkOf(deviceOf(n))), hwidOf(deviceOf(n))),
    good: '^HTTP/1.1 204 ',
  },
  {
    name: 'panel',
    noise: atPanel(1, 'KeyOfTheNoise001', 'noise'),
    call: (n) => atPanel(n, `KeyOfTheBench0${n}`, `phone-${n}`),
    good: '^HTTP/1.1 200 ',
  },
];
