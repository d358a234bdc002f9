/** Hiddify: its keys are UUIDs behind a path of users. */

import { clientOf } from '../api.ts';
import type { Customer, RealPanel, State, UserSpec } from '../panel.ts';
import { startPanel } from '../start.ts';

/** A package that began some days ago. It takes the day with the length alone. */
const begun = (daysAgo: number) => ({
  package_days: 30,
  start_date: new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10),
});

/** What a state is in the fields of a user. */
const STATES: Readonly<Record<State, () => object>> = {
  active: () => ({ enable: true, current_usage_GB: 0, ...begun(0) }),
  disabled: () => ({ enable: false }),
  expired: () => begun(60),
  'used-up': () => ({ current_usage_GB: 2 }),
  // The days begin at the first connection.
  'on-hold': () => ({ package_days: 30, start_date: null }),
};
const IS_LET_IN: readonly State[] = ['active', 'on-hold'];

/** Names of the shortest and longest form, in several scripts, some of a second customer too. */
const ODD: readonly UserSpec[] = [
  { name: 'a' },
  { name: 'x'.repeat(512), note: 'n'.repeat(512) },
  { name: 'Анна آنا 安娜 👍🏽', note: 'оплачено\nдо 3 декабря' },
  { name: 'علی‌رضا', note: 'پرداخت شد' },
  { name: '李雷', note: '付到五月' },
  { name: `"O'Brien" <b>&amp; \\N`, note: `; DROP TABLE user; -- \\' "` },
  { name: ' two  spaces ', note: '\t' },
  { name: 'a', note: 'a second one of the name' },
];

export async function openHiddify(source: string): Promise<RealPanel> {
  const running = await startPanel('hiddify', source);
  const [, admins = '', users = ''] = running.address.pathname.split('/');
  const { origin: url, username: token } = running.address;
  const call = clientOf(`${url}/${admins}/api/v2/admin/user/`, {
    'hiddify-api-key': token,
    host: 'panel.example.com',
    'user-agent': 'curl/8.0',
  });
  const installed = Bun.spawnSync([`${running.build}/packages/bin/pip`, 'show', 'hiddifypanel']);
  const version = /^Version: (.*)$/m.exec(String(installed.stdout))?.[1] ?? 'unknown';

  // It comes with a user of its own.
  for (const { uuid } of await call<{ uuid: string }[]>('GET', ''))
    await call('DELETE', `${uuid}/`);

  async function setState({ id }: Customer, state: State): Promise<void> {
    const said = await call<{ is_active: boolean }>('PATCH', `${id}/`, STATES[state]());
    if (said.is_active !== IS_LET_IN.includes(state)) throw new Error(`${id} is not ${state}`);
  }

  return {
    kind: 'hiddify',
    version,
    commit: `hiddifypanel ${version} of PyPI`,
    url,
    lines: `url = "${url}"
key = "hiddify"
key_path = ["/${users}/{key}"]
default_limit = 2
unlimited_as = 3`,
    api: { url: `${url}/${admins}`, token },
    database: {
      kind: 'mariadb',
      url: `mysql://panel:made-up@127.0.0.1:${running.port + 1}/hiddifypanel`,
    },
    users: {
      states: ['active', 'disabled', 'expired', 'used-up', 'on-hold'],
      add: async ({ name, note, state = 'active' }) => {
        const user = { name, usage_limit_GB: 1, ...begun(0), ...(note && { comment: note }) };
        const { uuid: key } = await call<{ uuid: string }>('POST', '', user);
        const customer = { name, id: key, key, path: `/${users}/${key}/auto` };
        if (state !== 'active') await setState(customer, state);
        return customer;
      },
      setState,
      change: async ({ id }, { note }) => {
        await call('PATCH', `${id}/`, { ...(note !== undefined && { comment: note }) });
      },
      rename: async (customer, name) => {
        await call('PATCH', `${customer.id}/`, { name });
        return { ...customer, name };
      },
      remove: async ({ id }) => {
        await call('DELETE', `${id}/`);
      },
      deviceCount: async () => null,
    },
    odd: ODD,
    routes: ({ path, key }) => [
      { name: 'auto', path },
      ...['sub', 'sub64', 'clash', 'singbox', 'xray'].map((format) => ({
        name: format,
        path: `/${users}/${key}/${format}/`,
      })),
    ],
    restart: running.restart,
  };
}
