/**
 * The gate of an operator with two panels: each key of `[gate]` and of its upstreams is changed in
 * the file, and the next request has it, without a restart.
 */

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, startApp } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { loadConfig } from '../../src/config/load.ts';
import { GATE_TABLES, gateSettings } from '../../src/config/settings/gate.ts';
import { addProvider, type Credentials } from '../../src/core/provider.ts';
import { freshFolder } from '../support/app.ts';
import {
  answer,
  MADE_UP,
  PANEL_HEADERS,
  type Panel,
  SUBSCRIPTION,
  startPanel,
} from '../support/panel.ts';
import { until } from '../support/until.ts';
import { exchange, type Got, HOST, KEY } from '../support/upstream.ts';

const SECOND = 'other.example.org';
const PAGE = { 'Content-Type': 'text/html; charset=utf-8' };

let folder: string;
let app: App;
let own: Credentials;
let panels: Panel[];
let lines: Record<string, string>;

/** A panel that says its name, and knows no user of its API. */
const openPanel = (name: string) =>
  startPanel(({ head, send, target }) => {
    if (/\r\nauthorization:/i.test(head) || MADE_UP.test(target)) return send(answer(404));
    const isPage = /\r\naccept: text\/html/i.test(head) || target.startsWith('/assets/');
    if (isPage) return send(answer(200, name, PAGE));
    return send(answer(200, SUBSCRIPTION.repeat(90), { ...PANEL_HEADERS, 'X-Panel': name }));
  });

/** The file of the operator, with what a test sets. */
function written(gate: Record<string, string> = {}, upstream: Record<string, string> = {}): string {
  const rows = (of: Record<string, string>) =>
    Object.entries(of)
      .map(([key, value]) => `${key} = ${value}\n`)
      .join('');
  const [texts = '', plain] = [gate['text'], { ...gate }];
  delete plain['text'];
  return `[server]
port = 0
trusted_proxies = ["127.0.0.1"]
[monitor]
port = "off"
[log]
level = "error"
[gate]
${rows(plain)}${texts}
[[gate.upstream]]
${rows({ ...lines, ...upstream })}[[gate.upstream]]
host = "${SECOND}"
url = "${panels[1]?.url}"
provider = "${own.code}"
default_limit = 9
`;
}

function load(text: string) {
  const file = join(folder, 'gatepost.toml');
  const names = { FIRST: panels[0]?.url, SECOND: panels[1]?.url };
  const files = { TOKEN: 'first-token', OTHER: 'other-token', HEADERS: 'x-extra: 1' };
  for (const [name, secret] of Object.entries(files)) {
    writeFileSync(join(folder, name), `${secret}\n`, { mode: 0o600 });
  }
  const all = {
    ...names,
    ...Object.fromEntries(Object.keys(files).map((name) => [name, join(folder, name)])),
  };
  writeFileSync(
    file,
    text.replace(/"([A-Z]+)"/g, (whole, name: string) =>
      name in all ? `"${all[name as keyof typeof all]}"` : whole,
    ),
  );
  return loadConfig({ dataDir: join(folder, 'data'), configFile: file }, {});
}

function reload(gate: Record<string, string>, upstream: Record<string, string>): void {
  expect(app.reload(load(written(gate, upstream))).waiting).toEqual([]);
}

beforeAll(async () => {
  folder = freshFolder();
  panels = [await openPanel('first'), await openPanel('second')];
  const empty = load(
    '[server]\nport = 0\ntrusted_proxies = ["127.0.0.1"]\n[monitor]\nport = "off"\n[log]\nlevel = "error"\n',
  );
  app = await startApp(empty, new AbortController().signal);
  const draft = {
    name: 'n',
    plan: 'enterprise',
    activeUntilMs: null,
    installCountMax: null,
  } as const;
  const made = await addProvider(app.core, draft, systemClock.nowMs());
  if ('says' in made) throw new Error(made.says);
  own = made;
  lines = {
    host: `"${HOST}"`,
    url: `"${panels[0]?.url}"`,
    provider: `"${own.code}"`,
    default_limit: '1',
  };
  reload({}, {});
  await until('the hosts are bound', async () => (await byPhone(`/sub/${KEY}`)).status === 200);
});
afterEach(() => reload({}, {}));
afterAll(async () => {
  await app?.close();
  for (const panel of panels) await panel.stop();
  rmSync(folder, { recursive: true });
});

let number = 0;
/** A key that no case had. */
const freshKey = () => {
  number += 1;
  return `${KEY}${number}`;
};
const get = (path: string, headers: Record<string, string> = {}) =>
  exchange(Number(new URL(app.url).port), 'GET', path, headers);
const byPhone = (path: string, hwid = 'phone', more: Record<string, string> = {}) =>
  get(path, { 'x-hwid': hwid, 'User-Agent': 'Happ/3.1', ...more });
const statusOf = async (got: Promise<Got>) => (await got).status;
const headerOf = async (got: Promise<Got>, name: string) => (await got).headers.get(name) ?? null;

/** The answer to the second device of a link with one slot. */
async function refused(): Promise<Got> {
  const path = `/sub/${freshKey()}`;
  await byPhone(path);
  return byPhone(path, 'tablet');
}
/** All of an answer, without what differs each time. */
const wordsOf = ({ status, headers, body }: Got) => {
  const same = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  return JSON.stringify([status, body, same]);
};
/** A question of a proxy about a fetch of a subscription. */
const asGate = (path: string, more: Record<string, string> = {}) =>
  byPhone('/gate', 'phone', {
    Host: 'gate.example.org',
    'X-Forwarded-Uri': path,
    'X-Forwarded-Host': HOST,
    'X-Forwarded-Method': 'GET',
    ...more,
  });
/** Returns the questions to the APIs of the panels while a new key came. */
async function apiCalls(call: (path: string) => Promise<Got>): Promise<string> {
  for (const panel of panels) panel.calls.length = 0;
  await call(`/sub/${freshKey()}`);
  const calls = panels.map(({ calls: all }) =>
    all.filter(({ head }) => /\r\nauthorization:/i.test(head)),
  );
  return JSON.stringify(
    calls.map((all) =>
      all.map(({ head }) => [
        /Bearer \S+/.exec(head)?.[0],
        head.includes('x-extra'),
        head.split(' ')[1]?.replace(new RegExp(`${KEY}\\d*`), ''),
      ]),
    ),
  );
}

const inApi = {
  limits: '"panel"',
  panel: '"remnawave"',
  panel_token_file: '"TOKEN"',
};

interface Case {
  /** The changed key, with others that it needs behind it. */
  change: Record<string, string>;
  /** Keys that are set before the change and after it. */
  beside?: Record<string, string>;
  probe(): Promise<unknown>;
}

const UPSTREAM: Case[] = [
  {
    change: { host: '"new.example.org"' },
    probe: () => statusOf(byPhone(`/sub/${KEY}`, 'phone', { Host: 'new.example.org' })),
  },
  { change: { url: '"SECOND"' }, probe: () => headerOf(byPhone(`/sub/${freshKey()}`), 'x-panel') },
  { change: { provider: '"nobody00"' }, probe: () => statusOf(byPhone(`/sub/${freshKey()}`)) },
  { change: { key_path: '["/p/{key}"]' }, probe: () => statusOf(byPhone(`/p/${KEY}`)) },
  { change: { key: '"hiddify"' }, probe: () => statusOf(byPhone(`/sub/${KEY}`)) },
  { change: { pass_paths: '["/assets/*"]' }, probe: () => statusOf(get('/assets/a.css')) },
  { change: { default_limit: '2' }, probe: async () => (await refused()).status },
  { change: { enforce: 'false' }, probe: async () => (await refused()).status },
  {
    change: { browsers: '"pass"' },
    probe: () => statusOf(get(`/sub/${KEY}`, { Accept: 'text/html', 'User-Agent': 'Mozilla/5.0' })),
  },
  { change: { other_paths: '"pass"' }, probe: () => statusOf(byPhone('/other')) },
  {
    change: { refused_as: '"panel"' },
    beside: { panel: '"remnawave"' },
    probe: async () => wordsOf(await refused()),
  },
  { change: { refused_status: '403' }, probe: async () => (await refused()).status },
  { change: { placeholder: 'true' }, probe: async () => (await refused()).status },
  {
    change: { answer_bytes_max: '1024' },
    probe: async () => (await byPhone(`/sub/${KEY}`)).body.length,
  },
  {
    change: { host_header: '"upstream"' },
    probe: async () => {
      await byPhone(`/sub/${KEY}`);
      return /host: (.*)\r/i.exec(panels[0]?.calls.at(-1)?.head ?? '')?.[1];
    },
  },
  {
    change: { update_interval_hours: '6' },
    probe: () => headerOf(byPhone(`/sub/${KEY}`), 'profile-update-interval'),
  },
  {
    change: { limits: '"panel"' },
    beside: { panel: inApi.panel, panel_token_file: inApi.panel_token_file },
    probe: () => apiCalls(byPhone),
  },
  {
    change: { panel: '"marzban"', key: '"marzban"' },
    beside: inApi,
    probe: () => apiCalls(byPhone),
  },
  { change: { panel_url: '"SECOND"' }, beside: inApi, probe: () => apiCalls(byPhone) },
  { change: { panel_token_file: '"OTHER"' }, beside: inApi, probe: () => apiCalls(byPhone) },
  { change: { panel_headers_file: '"HEADERS"' }, beside: inApi, probe: () => apiCalls(byPhone) },
];

const GATE: Case[] = [
  { change: { proxies: '[]' }, probe: () => statusOf(asGate(`/sub/${KEY}`)) },
  { change: { key_paths: '["/p/{key}"]' }, probe: () => statusOf(asGate(`/p/${KEY}`)) },
  { change: { key: '"hiddify"' }, probe: () => statusOf(asGate(`/sub/${KEY}`)) },
  { change: { language: '"ru"' }, probe: async () => wordsOf(await refused()) },
  {
    change: { text: '[gate.text.en]\nlink_limit_reached = "All taken."\n' },
    probe: async () => wordsOf(await refused()),
  },
  {
    change: { update_interval_hours: '6' },
    beside: { ride: '"on"' },
    probe: () => headerOf(asGate(`/sub/${KEY}`), 'profile-update-interval'),
  },
];

async function changes(
  { change, beside = {}, probe }: Case,
  put: (all: Record<string, string>) => void,
) {
  put(beside);
  const before = await probe();
  expect(await probe()).toEqual(before);
  put({ ...beside, ...change });
  // A new host is bound beside the first request.
  await until('the change', async () => !Bun.deepEquals(await probe(), before));
}

test.each(UPSTREAM.map((one) => [Object.keys(one.change)[0], one] as const))(
  'upstream: %s',
  (_, one) => changes(one, (all) => reload({}, all)),
);
test.each(GATE.map((one) => [Object.keys(one.change)[0], one] as const))('gate.%s', (_, one) =>
  changes(one, (all) => reload(all, {})),
);

test('each key is changed here, or acts as its neighbours do by what its own tests show', () => {
  const here = (cases: Case[]) => cases.flatMap(({ change }) => Object.keys(change)[0] ?? []);
  const elsewhere = [
    ...['key_secret_file', 'codes_as_keys', 'unlimited_as', 'timeout_seconds', 'requests_max'],
    ...['ride', 'announce', 'provider_id_file', 'panel_account_file'],
    ...['follow', 'follow_gone', 'follow_notes', 'panel_file', 'cut_off', 'panel_admin'],
    'read',
  ];
  const keys = Object.values(GATE_TABLES.upstreamKeys).map(({ key }) => key);
  expect([...here(UPSTREAM), ...elsewhere].sort()).toEqual(keys.filter((key) => key !== '').sort());
  const gate = Object.values(gateSettings).map(({ key }) => key.slice('gate.'.length));
  const others = ['key_secret_file', 'panel', 'panel_url', 'panel_token_file', 'read', 'ride'];
  const files = ['panel_account_file', 'panel_headers_file', 'provider_id_file', 'upstream'];
  expect([...here(GATE), ...others, ...files].sort()).toEqual(gate.sort());
});
