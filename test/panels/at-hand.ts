/**
 * The real panels that variables name (README.md beside this file), each by its API: customers
 * come, are switched off and on, and leave.
 */

import type { PanelKind } from '../../src/core/panel/kind.ts';
import { until } from '../support/until.ts';

/** The panels that run without packages of their makers. */
export type AtHand = Exclude<PanelKind, 'remnawave'>;

export interface Customer {
  name: string;
  /** The number, name or UUID by which the API of the panel knows the customer. */
  id: string;
  key: string;
  /** The address of the subscription, without its host. */
  path: string;
}

export interface RealPanel {
  /** The lines of its page in `docs/` for `[[gate.upstream]]`, `url` among them. */
  lines: string;
  /** What `import --from` and `panel_url` take, with a token. */
  api: { url: string; token: string };
  add(name: string, key?: string): Promise<Customer>;
  setActive(customer: Customer, isActive: boolean): Promise<void>;
  remove(customer: Customer): Promise<void>;
}

/** The variable of each panel. */
export const VARIABLES: Readonly<Record<AtHand, string>> = {
  '3x-ui': 'TEST_PANEL_3X_UI',
  marzban: 'TEST_PANEL_MARZBAN',
  pasarguard: 'TEST_PANEL_PASARGUARD',
  hiddify: 'TEST_PANEL_HIDDIFY',
};

/** Returns a client of an API. Its calls throw for any answer but a 2xx. */
function clientOf(base: string, headers: Record<string, string>) {
  return async <T = unknown>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(base + path, {
      method,
      keepalive: false,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? null : JSON.parse(text)) as T;
  };
}

async function openThreeXUi(named: URL): Promise<RealPanel> {
  const token = named.username;
  const call = clientOf(`${named.origin}/panel/api`, { authorization: `Bearer ${token}` });
  const subPort = Number(named.port) + 1;
  const { obj: settings } = await call<{ obj: { subPort: number } }>('POST', '/setting/all');
  if (settings.subPort !== subPort) {
    const own = { subEnable: true, subJsonEnable: true, subClashEnable: true };
    const at = { subListen: '127.0.0.1', subPort };
    await call('POST', '/setting/update', { ...settings, ...own, ...at });
    await call('POST', '/setting/restartPanel');
  }
  const url = `http://127.0.0.1:${subPort}`;
  const answers = () =>
    fetch(`${url}/sub/none`).then(
      () => true,
      () => false,
    );
  await until('3x-ui serves subscriptions', answers);
  type Inbounds = { obj: { id: number }[] | null };
  const first = async () => (await call<Inbounds>('GET', '/inbounds/list')).obj?.[0]?.id;
  if ((await first()) === undefined) {
    await call('POST', '/inbounds/add', {
      remark: 'one',
      enable: true,
      port: subPort + 8,
      protocol: 'vless',
      settings: JSON.stringify({ clients: [], decryption: 'none' }),
      streamSettings: JSON.stringify({ network: 'tcp', security: 'none' }),
    });
  }
  return {
    lines: `url = "${url}"
panel = "3x-ui"
key_path = ["/sub/{key}", "/json/{key}", "/clash/{key}"]
default_limit = 2`,
    api: { url: named.origin, token },
    add: async (name, key = `${name}-${crypto.randomUUID().slice(0, 8)}`) => {
      await call('POST', '/clients/add', {
        client: { email: name, subId: key, enable: true, id: crypto.randomUUID(), comment: '' },
        inboundIds: [await first()],
      });
      return { name, id: name, key, path: `/sub/${encodeURIComponent(key)}` };
    },
    setActive: async ({ id }, isActive) => {
      const way = isActive ? 'bulkEnable' : 'bulkDisable';
      await call('POST', `/clients/${way}`, { emails: [id] });
    },
    remove: async ({ id }) => {
      await call('POST', `/clients/del/${id}`);
    },
  };
}

/** Marzban, and PasarGuard, which grew from it. */
async function openSigning(kind: 'marzban' | 'pasarguard', named: URL): Promise<RealPanel> {
  const { origin: url, username, password } = named;
  const body = new URLSearchParams({ username, password });
  const login = await fetch(`${url}/api/admin/token`, { method: 'POST', body });
  const { access_token: token } = (await login.json()) as { access_token: string };
  const call = clientOf(`${url}/api`, { authorization: `Bearer ${token}` });
  const isMarzban = kind === 'marzban';
  const forUser = isMarzban
    ? { proxies: { shadowsocks: {} }, inbounds: {} }
    : { group_ids: [await groupOf()], hwid_limit: 0 };
  return {
    lines: `url = "${url}"\nkey = "${kind}"\ndefault_limit = 2`,
    api: { url, token },
    add: async (name) => {
      const user = { username: name, ...forUser };
      const made = await call<{ subscription_url: string }>('POST', '/user', user);
      const path = new URL(made.subscription_url, url).pathname;
      return { name, id: name, key: path.slice('/sub/'.length), path };
    },
    setActive: async ({ id }, isActive) => {
      if (isMarzban) await call('PUT', `/user/${id}`, { status: isActive ? 'active' : 'disabled' });
      else await call('PUT', `/user/${id}/disabled`, { disabled: !isActive });
    },
    remove: async ({ id }) => {
      // Marzban removes the user, and answers 500 where no administrator of its database made it.
      await call('DELETE', `/user/${id}`).catch((fault: Error) => {
        if (!isMarzban || !fault.message.includes(': 500 ')) throw fault;
      });
    },
  };

  /** Returns a group of PasarGuard whose users have a server. */
  async function groupOf(): Promise<number> {
    const { groups } = await call<{ groups: { id: number }[] }>('GET', '/groups');
    if (groups[0] !== undefined) return groups[0].id;
    const [tag] = await call<string[]>('GET', '/inbounds');
    await call('POST', '/host/', {
      remark: 'one',
      address: ['node.example.com'],
      inbound_tag: tag,
      priority: 1,
    });
    const group = { name: 'everybody', inbound_tags: [tag] };
    return (await call<{ id: number }>('POST', '/group', group)).id;
  }
}

async function openHiddify(named: URL): Promise<RealPanel> {
  const [, admins = '', users = ''] = named.pathname.split('/');
  const { origin: url, username: token } = named;
  const call = clientOf(`${url}/${admins}/api/v2/admin/user/`, {
    'hiddify-api-key': token,
    host: 'panel.example.com',
    'user-agent': 'curl/8.0',
  });
  return {
    lines: `url = "${url}"
key = "hiddify"
key_path = ["/${users}/{key}"]
default_limit = 2
unlimited_as = 3`,
    api: { url: `${url}/${admins}`, token },
    add: async (name) => {
      const user = { name, usage_limit_GB: 1, package_days: 30 };
      const { uuid: key } = await call<{ uuid: string }>('POST', '', user);
      return { name, id: key, key, path: `/${users}/${key}/auto` };
    },
    setActive: async ({ id }, isActive) => {
      await call('PATCH', `${id}/`, { enable: isActive });
    },
    remove: async ({ id }) => {
      await call('DELETE', `${id}/`);
    },
  };
}

/** Opens a panel; null, and a sentence, if its variable is unset. */
export async function panelAtHand(kind: AtHand): Promise<RealPanel | null> {
  const named = process.env[VARIABLES[kind]];
  if (named === undefined) {
    console.warn(`Tests are skipped: no real ${kind} is named by ${VARIABLES[kind]}.`);
    return null;
  }
  const url = new URL(named);
  if (kind === '3x-ui') return openThreeXUi(url);
  return kind === 'hiddify' ? openHiddify(url) : openSigning(kind, url);
}
