/** Marzban: its subscriptions have signed tokens. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../support/until.ts';
import { type Call, clientOf } from '../api.ts';
import type { Customer, RealPanel, SecondAdmin, State, UserSpec } from '../panel.ts';
import { commitOf, startPanel } from '../start.ts';
import { customerOf, logIn, statesOf } from './signing.ts';

/** The state as the panel writes it. */
const WORDS: Readonly<Record<State, string>> = {
  active: 'active',
  disabled: 'disabled',
  expired: 'expired',
  'used-up': 'limited',
  'on-hold': 'on_hold',
};

/**
 * Names as its rule takes them: the shortest, each sign, two that differ in case, the longest that
 * the rule names, and the longest that Gatepost serves, which it takes on SQLite. Notes of several
 * scripts, and the longest.
 */
const ODD: readonly UserSpec[] = [
  { name: 'abc', note: 'оплачено до 3 декабря' },
  { name: 'a_b', note: 'علی\u200cرضا' },
  { name: 'abc-', note: '李雷 · 两台手机' },
  { name: 'abc.', note: '👩‍👩‍👧 👍🏽' },
  { name: 'abc..def', note: 'two\nlines\r\nand\ta tab' },
  { name: 'Case_1', note: '<script>alert(1)</script>' },
  { name: 'case_1', note: `'; DROP TABLE users; -- "` },
  { name: '123', note: '=HYPERLINK("http://example.com")' },
  { name: 'anna@mail.example.com', note: 'n'.repeat(500) },
  { name: 'x'.repeat(32), note: '  spaces around it  ' },
  { name: `abc.${'x'.repeat(124)}` },
];

/** MariaDB takes 34 signs, and two names that differ in case for one. */
const ODD_ON_MARIADB = ODD.filter(({ name }) => name.length <= 34 && name !== 'case_1');

export async function openMarzban(
  source: string,
  env: Record<string, string> = {},
): Promise<RealPanel> {
  const running = await startPanel('marzban', source, env);
  const { origin: url } = running.address;
  const asRoot = clientOf(`${url}/api`, {
    authorization: `Bearer ${await logIn(running.address)}`,
  });
  // It cannot remove a user whom no administrator of its database made.
  const admin = { username: 'shop', password: 'made-up-password-2', is_sudo: true };
  await asRoot('POST', '/admin', admin);
  const token = await logIn(Object.assign(new URL(url), admin));
  const call = clientOf(`${url}/api`, { authorization: `Bearer ${token}` });
  const { version } = await call<{ version: string }>('GET', '/system');

  async function setState({ id }: Customer, state: State): Promise<void> {
    if (state === 'active') await call('POST', `/user/${id}/reset`);
    await call('PUT', `/user/${id}`, statesOf('seconds')[state]);
    // The panel asks Xray, in whose place its script reports this.
    if (state === 'used-up') writeFileSync(join(running.data, 'used'), `${id} 2\n`);
    await until(`${id} is ${state}`, async () => {
      const { status } = await call<{ status: string }>('GET', `/user/${id}`);
      return status === WORDS[state];
    });
  }

  async function made(by: Call, { name, note = '' }: UserSpec): Promise<Customer> {
    const user = { username: name, note, proxies: { shadowsocks: {} }, inbounds: {} };
    return customerOf(name, await by('POST', '/user', user));
  }

  async function secondAdmin(): Promise<SecondAdmin> {
    const name = `seller_${crypto.randomUUID().slice(0, 8)}`;
    const account = { username: name, password: 'made-up-password-3' };
    await call('POST', '/admin', { ...account, is_sudo: false });
    const own = await logIn(Object.assign(new URL(url), account));
    const callOwn = clientOf(`${url}/api`, { authorization: `Bearer ${own}` });
    return { name, token: own, add: (customer) => made(callOwn, { name: customer }) };
  }

  async function add(spec: UserSpec): Promise<Customer> {
    const { state = 'active' } = spec;
    const customer = await made(call, spec);
    if (state !== 'active') await setState(customer, state);
    return customer;
  }

  return {
    kind: 'marzban',
    version,
    commit: commitOf(source),
    url,
    lines: `url = "${url}"\nkey = "marzban"\ndefault_limit = 2`,
    api: { url, token },
    database: { kind: 'sqlite', file: join(running.data, 'db.sqlite3') },
    secondAdmin,
    users: {
      states: ['active', 'disabled', 'expired', 'used-up', 'on-hold'],
      add,
      setState,
      change: async ({ id }, { note }) => {
        await call('PUT', `/user/${id}`, { ...(note !== undefined && { note }) });
      },
      rename: () => Promise.reject(new Error('Marzban renames no customer')),
      remove: async ({ id }) => {
        await call('DELETE', `/user/${id}`);
      },
      deviceCount: async () => null,
    },
    odd: env['PANEL_DATABASE'] === undefined ? ODD : ODD_ON_MARIADB,
    routes: ({ path }) =>
      ['', 'clash', 'clash-meta', 'sing-box', 'outline', 'v2ray', 'v2ray-json'].map((format) => ({
        name: format === '' ? 'by the agent' : format,
        path: format === '' ? path : `${path}/${format}`,
      })),
    restart: running.restart,
  };
}
