/** 3x-ui. Its API takes a token; subscriptions have a port of their own, and a key of their own. */

import { join } from 'node:path';
import { until } from '../../support/until.ts';
import { clientOf } from '../api.ts';
import type { Customer, RealPanel, State, UserSpec } from '../panel.ts';
import { commitOf, startPanel } from '../start.ts';

const DAY_MS = 86_400_000;
const MEBIBYTE = 1_048_576;

interface Client {
  email: string;
  subId: string;
  enable: boolean;
  comment: string;
  limitHwid: number;
  totalGB: number;
  expiryTime: number;
}

/** What a state is in the fields of a client. */
const STATES: Readonly<Record<State, Partial<Client>>> = {
  active: { enable: true, expiryTime: 0, totalGB: 0 },
  disabled: { enable: false },
  expired: { expiryTime: Date.now() - DAY_MS },
  'used-up': { totalGB: MEBIBYTE },
  // A negative time is that after the first use.
  'on-hold': { enable: true, expiryTime: -30 * DAY_MS },
};

/** It refuses spaces, `/` and `\\` in names, and nothing in notes. */
const ODD: readonly UserSpec[] = [
  { name: 'a' },
  { name: 'x'.repeat(400), note: 'n'.repeat(4_000) },
  { name: 'анна@пример', note: 'оплачено до 3 декабря' },
  { name: 'آنا۱۲', note: 'تا پایان ماه\u200c' },
  { name: '安娜', note: '三台设备' },
  { name: 'อันนา', note: 'สามเครื่อง' },
  { name: '👩‍👩‍👧', note: '👍🏽' },
  { name: 'e\u0301', note: 'two signs that look as one' },
  { name: 'é', note: '  spaces around it  ' },
  { name: `o'neil"`, note: `'; DROP TABLE clients; -- "` },
  { name: '<b>anna</b>'.replace('/', '|'), note: '<script>alert(1)</script>' },
  { name: 'a%41&b=c?d#e;f', note: 'two\nlines\r\nand\ta tab' },
  { name: '=1+1', note: '=HYPERLINK("http://example.com")' },
  { name: 'a\u202Eannа', note: 'turned around\u202E' },
];

export async function openThreeXUi(source: string, env = {}): Promise<RealPanel> {
  const running = await startPanel('3x-ui', source, env);
  const { address } = running;
  const token = address.username;
  const call = clientOf(`${address.origin}/panel/api`, { authorization: `Bearer ${token}` });
  const subPort = running.port + 1;
  const url = `http://127.0.0.1:${subPort}`;
  const servesSubscriptions = () =>
    until('3x-ui serves subscriptions', () =>
      fetch(`${url}/sub/none`, { keepalive: false }).then(Boolean, () => false),
    );

  const { obj: settings } = await call<{ obj: object }>('POST', '/setting/all');
  const own = { subEnable: true, subJsonEnable: true, subClashEnable: true };
  const at = { subListen: '127.0.0.1', subPort };
  await call('POST', '/setting/update', { ...settings, ...own, ...at });
  await setUpXray();
  await running.restart();
  await servesSubscriptions();
  const inbound = await call<{ obj: { id: number } }>('POST', '/inbounds/add', {
    remark: 'one',
    enable: true,
    port: running.port + 2,
    protocol: 'vless',
    settings: JSON.stringify({ clients: [], decryption: 'none' }),
    streamSettings: JSON.stringify({ network: 'tcp', security: 'none' }),
  });
  const version = Bun.spawnSync([join(running.build, 'x-ui'), '-v'], { cwd: running.data });

  /** Its answer is a 200 also where it refuses. */
  const change = async (path: string, body?: unknown) => {
    const said = await call<{ success: boolean; msg: string }>('POST', `/clients/${path}`, body);
    if (!said.success) throw new Error(`${path}: ${said.msg}`);
  };
  const inPath = (name: string) => encodeURIComponent(name);
  const clientNamed = async (name: string) => {
    type Got = { obj: { client: Client & { uuid: string } } };
    const { client } = (await call<Got>('GET', `/clients/get/${inPath(name)}`)).obj;
    // It takes a client in another form than it gives one.
    const { email, subId, enable, comment, limitHwid, totalGB, expiryTime } = client;
    return { email, subId, enable, comment, limitHwid, totalGB, expiryTime, id: client.uuid };
  };
  const update = async (name: string, fields: Partial<Client>) => {
    await change(`update/${inPath(name)}`, { ...(await clientNamed(name)), ...fields });
  };

  /** Its Xray asks its own ports; the figures of it end customers. */
  async function setUpXray(): Promise<void> {
    type Template = { inbounds: { port: number }[]; metrics: object; routing: { rules: object[] } };
    const { obj } = await call<{ obj: Template }>('GET', '/xray/getDefaultJsonConfig');
    const inbounds = obj.inbounds.map((each) => ({ ...each, port: running.port + 3 }));
    const metrics = { ...obj.metrics, listen: `127.0.0.1:${running.port + 4}` };
    // Without the rules about addresses, for which it needs lists of them.
    const own = { routing: { rules: obj.routing.rules.slice(0, 1) }, inbounds, metrics };
    // To this machine too, where the tests have their servers.
    const settings = { finalRules: [{ action: 'allow' }] };
    const outbounds = [{ protocol: 'freedom', tag: 'direct', settings }];
    const body = new FormData();
    body.set('xraySetting', JSON.stringify({ ...obj, ...own, outbounds }));
    const headers = { authorization: `Bearer ${token}` };
    const at = `${address.origin}/panel/api/xray/update`;
    const said = await (await fetch(at, { method: 'POST', headers, body })).text();
    if (!said.includes('"success":true')) throw new Error(`Xray: ${said}`);
  }

  async function setState({ id }: Customer, state: State): Promise<void> {
    await update(id, STATES[state]);
    if (state === 'used-up') {
      await change(`updateTraffic/${inPath(id)}`, { upload: MEBIBYTE, download: MEBIBYTE });
    }
    if (state === 'active') await change(`resetTraffic/${inPath(id)}`);
    const isEnabled = state === 'active' || state === 'on-hold';
    await until(`${id} is ${state}`, async () => (await clientNamed(id)).enable === isEnabled);
  }
  async function add({ name, key, note = '', limit = 0, state = 'active' }: UserSpec) {
    const subId = key ?? crypto.randomUUID().slice(0, 16).replaceAll('-', '');
    const client = { email: name, subId, enable: true, id: crypto.randomUUID(), comment: note };
    await change('add', { client: { ...client, limitHwid: limit }, inboundIds: [inbound.obj.id] });
    const customer = { name, id: name, key: subId, path: `/sub/${encodeURIComponent(subId)}` };
    if (state !== 'active') await setState(customer, state);
    return customer;
  }

  return {
    kind: '3x-ui',
    version: String(version.stdout).trim(),
    commit: commitOf(source),
    url,
    lines: `url = "${url}"
panel = "3x-ui"
key_path = ["/sub/{key}", "/json/{key}", "/clash/{key}"]
default_limit = 2`,
    api: { url: address.origin, token },
    database: { kind: 'sqlite', file: join(running.data, 'x-ui.db') },
    users: {
      states: ['active', 'disabled', 'expired', 'used-up', 'on-hold'],
      add,
      setState,
      change: ({ id }, { note, limit }) =>
        update(id, {
          ...(note !== undefined && { comment: note }),
          ...(limit !== undefined && { limitHwid: limit }),
        }),
      rename: async (customer, name) => {
        await update(customer.id, { email: name });
        return { ...customer, name, id: name };
      },
      remove: ({ id }) => change(`del/${inPath(id)}`),
      deviceCount: async ({ id }) => {
        const { obj } = await call<{ obj: object[] | null }>(
          'POST',
          `/clients/hwids/${inPath(id)}`,
        );
        return obj?.length ?? 0;
      },
    },
    odd: ODD,
    routes: ({ path, key }) => [
      { name: 'sub', path },
      { name: 'json', path: `/json/${encodeURIComponent(key)}` },
      { name: 'clash', path: `/clash/${encodeURIComponent(key)}` },
    ],
    restart: async () => {
      await running.restart();
      await servesSubscriptions();
    },
  };
}
