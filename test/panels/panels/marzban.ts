/** Marzban: its subscriptions have signed tokens. */

import { join } from 'node:path';
import { clientOf } from '../api.ts';
import type { Customer, RealPanel, State, UserSpec } from '../panel.ts';
import { commitOf, startPanel } from '../start.ts';
import { customerOf, logIn, statesOf } from './signing.ts';

/** Names of the shortest and longest form, notes of several scripts. */
const ODD: readonly UserSpec[] = [
  { name: 'abc' },
  { name: 'x'.repeat(32), note: 'n'.repeat(500) },
  { name: 'Anna_1', note: 'оплачено\nتا پایان 三 👍🏽' },
];

export async function openMarzban(source: string): Promise<RealPanel> {
  const running = await startPanel('marzban', source);
  const { origin: url } = running.address;
  const token = await logIn(running.address);
  const call = clientOf(`${url}/api`, { authorization: `Bearer ${token}` });
  const { version } = await call<{ version: string }>('GET', '/system');

  async function setState({ id }: Customer, state: State): Promise<void> {
    await call('PUT', `/user/${id}`, statesOf('seconds')[state]);
  }

  return {
    kind: 'marzban',
    version,
    commit: commitOf(source),
    url,
    lines: `url = "${url}"\nkey = "marzban"\ndefault_limit = 2`,
    api: { url, token },
    database: { kind: 'sqlite', file: join(running.data, 'db.sqlite3') },
    users: {
      states: ['active', 'disabled', 'expired', 'on-hold'],
      add: async ({ name, note = '', state = 'active' }) => {
        const user = { username: name, note, proxies: { shadowsocks: {} }, inbounds: {} };
        const customer = customerOf(name, await call('POST', '/user', user));
        if (state !== 'active') await setState(customer, state);
        return customer;
      },
      setState,
      change: async ({ id }, { note }) => {
        await call('PUT', `/user/${id}`, { ...(note !== undefined && { note }) });
      },
      rename: () => Promise.reject(new Error('Marzban renames nobody')),
      remove: async ({ id }) => {
        // It removes the user, and answers 500 where no administrator of its database made it.
        await call('DELETE', `/user/${id}`).catch((fault: Error) => {
          if (!fault.message.includes(': 500 ')) throw fault;
        });
      },
      deviceCount: async () => null,
    },
    odd: ODD,
    routes: ({ path }) =>
      ['', 'clash', 'clash-meta', 'sing-box', 'outline', 'v2ray', 'v2ray-json'].map((format) => ({
        name: format === '' ? 'by the agent' : format,
        path: format === '' ? path : `${path}/${format}`,
      })),
    restart: running.restart,
  };
}
