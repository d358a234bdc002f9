/** PasarGuard: its subscriptions have signed tokens, its users a limit of HWIDs. */

import { join } from 'node:path';
import { type Call, clientOf } from '../api.ts';
import type { Customer, RealPanel, SecondAdmin, State, UserSpec } from '../panel.ts';
import { commitOf, startPanel } from '../start.ts';
import { customerOf, logIn, statesOf } from './signing.ts';

/** Names are of letters, digits and `-_@.`, no two of these in a row; notes may hold anything. */
const ODD: readonly UserSpec[] = [
  { name: 'abc' },
  { name: 'x'.repeat(128), note: 'n'.repeat(500) },
  { name: '12345', note: 'a name that looks as the number of another' },
  { name: 'An-na_1@b.example', note: 'оплачено\nتا پایان 三 👍🏽' },
  { name: 'anna.1', note: `\\N \\. ' "; -- $$ \u202E\t%41`, limit: 2 },
  { name: 'no-limit', note: '   ', limit: -1 },
  { name: 'limit-above', limit: 2_147_483_647 },
];

/** The rights of an admin who sees his own users, and what an import needs beside them. */
const OWN = {
  users: Object.fromEntries(
    ['create', 'read', 'read_simple', 'update', 'delete'].map((right) => [right, { scope: 1 }]),
  ),
  settings: { read: true },
  admins: { read: true },
  hwids: { read: true },
};

export async function openPasarGuard(source: string, env = {}): Promise<RealPanel> {
  const running = await startPanel('pasarguard', source, env);
  const { origin: url } = running.address;
  const token = await logIn(running.address);
  const call = clientOf(`${url}/api`, { authorization: `Bearer ${token}` });
  const { version } = await call<{ version: string }>('GET', '/system');
  const [tag] = await call<string[]>('GET', '/inbounds');
  const host = { remark: 'one', address: ['node.example.com'], inbound_tag: tag, priority: 1 };
  await call('POST', '/host/', host);
  const group = { name: 'everybody', inbound_tags: [tag] };
  const { id: groupId } = await call<{ id: number }>('POST', '/group', group);

  async function setState({ id }: Customer, state: State): Promise<void> {
    if (state === 'active' || state === 'disabled') {
      await call('PUT', `/user/${id}/disabled`, { disabled: state === 'disabled' });
    }
    if (state !== 'disabled') await call('PUT', `/user/${id}`, statesOf('words')[state]);
  }

  async function add(by: Call, { name, note = '', limit }: UserSpec): Promise<Customer> {
    const user = { username: name, note, group_ids: [groupId], hwid_limit: limit ?? null };
    return customerOf(name, await by('POST', '/user', user));
  }

  async function secondAdmin(): Promise<SecondAdmin> {
    const name = `seller_${crypto.randomUUID().slice(0, 8)}`;
    const role = await call<{ id: number }>('POST', '/admin-role', { name, permissions: OWN });
    const password = 'Made-Up-Pass-12';
    await call('POST', '/admin', { username: name, password, role_id: role.id });
    const at = Object.assign(new URL(running.address), { username: name, password });
    const own = await logIn(at);
    const callOwn = clientOf(`${url}/api`, { authorization: `Bearer ${own}` });
    return { name, token: own, add: (customer) => add(callOwn, { name: customer }) };
  }

  return {
    kind: 'pasarguard',
    version,
    commit: commitOf(source),
    url,
    lines: `url = "${url}"\nkey = "pasarguard"\ndefault_limit = 2`,
    api: { url, token },
    database: { kind: 'sqlite', file: join(running.data, 'db.sqlite3') },
    secondAdmin,
    users: {
      states: ['active', 'disabled', 'expired', 'on-hold'],
      add: async (spec) => {
        const customer = await add(call, spec);
        // Of a deleted user with this number: only `secondAdmin` leaves them.
        const { id } = await call<{ id: number }>('GET', `/user/${customer.name}`);
        await call('POST', `/user/${id}/hwids/reset`);
        const { state = 'active' } = spec;
        if (state !== 'active') await setState(customer, state);
        return customer;
      },
      setState,
      change: async ({ id }, { note, limit }) => {
        await call('PUT', `/user/${id}`, {
          ...(note !== undefined && { note }),
          ...(limit !== undefined && { hwid_limit: limit }),
        });
      },
      rename: () => Promise.reject(new Error('PasarGuard renames no customer')),
      remove: async ({ id }) => {
        await call('DELETE', `/user/${id}`);
      },
      deviceCount: async ({ id }) => {
        const { id: number } = await call<{ id: number }>('GET', `/user/${id}`);
        return (await call<{ count: number }>('GET', `/user/${number}/hwids`)).count;
      },
    },
    odd: ODD,
    routes: ({ path }) =>
      ['', 'links', 'links_base64', 'clash', 'clash_meta', 'sing_box', 'xray', 'outline'].map(
        (format) => ({
          name: format === '' ? 'by the agent' : format,
          path: format === '' ? path : `${path}/${format}`,
        }),
      ),
    restart: running.restart,
  };
}
