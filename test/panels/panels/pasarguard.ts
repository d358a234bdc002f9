/** PasarGuard: its subscriptions have signed tokens, its users a limit of HWIDs. */

import { join } from 'node:path';
import { clientOf } from '../api.ts';
import type { Customer, RealPanel, State, UserSpec } from '../panel.ts';
import { commitOf, startPanel } from '../start.ts';
import { customerOf, logIn, statesOf } from './signing.ts';

/** Names of the shortest and longest form, notes of several scripts. */
const ODD: readonly UserSpec[] = [
  { name: 'abc' },
  { name: 'x'.repeat(128), note: 'n'.repeat(500) },
  { name: 'An-na_1', note: 'оплачено\nتا پایان 三 👍🏽' },
];

export async function openPasarGuard(source: string): Promise<RealPanel> {
  const running = await startPanel('pasarguard', source);
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

  return {
    kind: 'pasarguard',
    version,
    commit: commitOf(source),
    url,
    lines: `url = "${url}"\nkey = "pasarguard"\ndefault_limit = 2`,
    api: { url, token },
    database: { kind: 'sqlite', file: join(running.data, 'db.sqlite3') },
    users: {
      states: ['active', 'disabled', 'expired', 'on-hold'],
      add: async ({ name, note = '', limit = 0, state = 'active' }) => {
        const user = { username: name, note, group_ids: [groupId], hwid_limit: limit };
        const customer = customerOf(name, await call('POST', '/user', user));
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
      rename: () => Promise.reject(new Error('PasarGuard renames nobody')),
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
