/**
 * nginx and Caddy before Gatepost: with the files of `docs/gate`, where they ask `/gate` and then
 * the panel; and with the lines of `docs/panel-remnawave.md` and `docs/trouble.md`, where Gatepost
 * is the proxy behind them.
 */

import { expect } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hostHash } from '../../../src/core/host-name.ts';
import { call } from '../../support/app.ts';
import { freePort } from '../../support/free-port.ts';
import { temporaryFolder } from '../../support/process.ts';
import {
  type FrontProxy,
  SUB_HOST,
  start,
  startCaddy,
  startNginx,
  startNginxSite,
} from '../../support/proxies.ts';
import { bind, expectOk } from '../../support/shop.ts';
import { readText } from '../../support/tree.ts';
import { HOST } from '../../support/upstream.ts';
import {
  type Fronting,
  front,
  hasServers,
  linkKeyOf,
  secretOf,
  withCustomers,
} from '../appliance.ts';
import type { Customer, RealPanel } from '../panel.ts';
import type { Checks, Finding } from '../real-panel-tests.ts';

export const TRUSTING = '[server]\ntrusted_proxies = ["127.0.0.1"]';

/** What the page of a panel says about its addresses. */
function addressesOf({ lines }: RealPanel) {
  const {
    panel = '',
    key = 'plain',
    key_path: paths = ['/sub/{key}'],
  } = Bun.TOML.parse(lines) as {
    panel?: string;
    key?: string;
    key_path?: string[];
  };
  const folder = paths[0]?.slice(0, paths[0].indexOf('{')) ?? '';
  return { panel, key, paths, folder };
}

/** Returns the lines by which `/gate` knows the links of a panel, and asks its API. */
export function gateLines(panel: RealPanel): string {
  const { panel: kind, key, paths } = addressesOf(panel);
  const folder = temporaryFolder();
  const [token, secret] = [join(folder, 'token'), join(folder, 'secret')];
  writeFileSync(token, panel.api.token, { mode: 0o600 });
  const signing = secretOf(panel);
  if (signing !== null) writeFileSync(secret, signing, { mode: 0o600 });
  return [
    '[gate]',
    'proxies = ["127.0.0.1"]',
    `key = "${key}"`,
    `key_paths = ${JSON.stringify(paths)}`,
    `panel_url = "${panel.api.url}"`,
    `panel_token_file = "${token}"`,
    ...(kind === '' ? [] : [`panel = "${kind}"`]),
    ...(signing === null ? [] : [`key_secret_file = "${secret}"`]),
  ].join('\n');
}

/** Lets devices of a customer come through a proxy until one is refused, and frees a slot. */
async function countedTo(
  gate: Fronting,
  customer: Customer,
  { url, host }: { url: string; host: string },
): Promise<void> {
  const ask = async (hwid: string) => {
    const response = await fetch(`${url}${customer.path}`, {
      headers: { host, 'user-agent': 'Happ/3.1', 'x-hwid': hwid },
      tls: { rejectUnauthorized: false },
    } as RequestInit);
    return { status: response.status, headers: response.headers, body: await response.text() };
  };
  for (const hwid of ['a-phone', 'a-tablet', 'a-phone']) {
    const got = await ask(hwid);
    expect({ hwid, hasServers: hasServers(got) }).toEqual({ hwid, hasServers: true });
    expect(got.headers.get('x-hwid-active')).toBe('true');
  }
  const third = await ask('a-third');
  expect(third.status).toBeOneOf([403, 404]);
  expect(third.headers.get('x-hwid-max-devices-reached')).toBe('true');
  const { json } = await call(gate.server, '/api/list-install', gate.own);
  expect(json.data).toMatchObject([{ install_count: 2, install_limit: 2 }]);
  const freed = { install_id: json.data[0].id, hwid: 'a-phone' };
  await call(gate.server, '/api/delete-hwid', gate.own, freed);
  expect((await ask('a-third')).status).toBe(200);
  expect((await ask('a-phone')).status).toBeOneOf([403, 404]);
}

/** nginx with the lines of the page in front of Gatepost. */
async function nginxBefore(port: number): Promise<FrontProxy> {
  const [, lines = ''] = /```nginx\n([^`]+)```/.exec(readText('docs/panel-remnawave.md')) ?? [];
  const own = freePort();
  const site = `server {
    listen 127.0.0.1:${own};
    location / {
        ${lines.replace('127.0.0.1:8080', `127.0.0.1:${port}`)}
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $remote_addr;
        proxy_set_header X-Forwarded-Proto $scheme;
    }
}`;
  return startNginxSite(site, own);
}

/** Caddy with the line of the page; it has no certificate of its own here. */
async function caddyBefore(port: number): Promise<FrontProxy> {
  const [, line = ''] = /`(reverse_proxy [^`]+)`/.exec(readText('docs/trouble.md')) ?? [];
  const own = freePort();
  const site = `{\n\tadmin off\n\tauto_https off\n}
http://${HOST}:${own} {
\tbind 127.0.0.1
\t${line.replace('127.0.0.1:8080', `127.0.0.1:${port}`)}
}
`;
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'Caddyfile'), site);
  mkdirSync(join(folder, 'home'));
  const argv = ['caddy', 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
  return start(argv, folder, `http://127.0.0.1:${own}`);
}

const PROXIES = [
  { name: 'nginx', asking: startNginx, before: nginxBefore },
  { name: 'caddy', asking: startCaddy, before: caddyBefore },
] as const;

export const beforeGateChecks: Checks = (check) => {
  for (const { name, asking, before } of PROXIES) {
    const lacking: Finding | null =
      Bun.which(name) === null ? { held: false, note: `skipped: there is no ${name}` } : null;

    check(`${name} asks /gate, and counts to the last device`, (panel) =>
      withCustomers(panel, [{}], async ([customer]) => {
        if (lacking !== null) return lacking;
        if (customer === undefined) throw new Error('no customer');
        const gate = await front(panel, { more: `${gateLines(panel)}\n${TRUSTING}` });
        await bind(gate.server, gate.own, hostHash(SUB_HOST));
        const link = { install_limit: 2, subscription_key: linkKeyOf(panel.kind, customer) };
        await expectOk(call(gate.server, '/api/add-install', gate.own, link));
        const proxy = await asking({
          gateposts: [gate.server.port],
          panel: Number(new URL(panel.url).port),
          provider: gate.own.code,
          folder: addressesOf(panel).folder,
        });
        try {
          await countedTo(gate, customer, { url: proxy.url, host: SUB_HOST });
          return undefined;
        } finally {
          await proxy.stop();
          await gate.stop();
        }
      }),
    );

    check(`${name} before Gatepost as the proxy, counted to the last device`, (panel) =>
      withCustomers(panel, [{}], async ([customer]) => {
        if (lacking !== null) return lacking;
        if (customer === undefined) throw new Error('no customer');
        const gate = await front(panel, { more: TRUSTING });
        const proxy = await before(gate.server.port);
        try {
          await countedTo(gate, customer, { url: proxy.url, host: HOST });
          return undefined;
        } finally {
          await proxy.stop();
          await gate.stop();
        }
      }),
    );
  }
};
