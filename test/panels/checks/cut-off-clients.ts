/** Cut off at 3x-ui: clients of each protocol, several of one subscription, and its real Xray. */

import { expect } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PanelCutOff } from '../../../src/core/panel/credentials.ts';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import { panelUserName } from '../../../src/core/panel/user.ts';
import { freePorts } from '../../support/free-port.ts';
import { cutsAt } from '../../support/panel-cuts.ts';
import { plainEnv, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { askPanel, withCustomers } from '../appliance.ts';
import type { Customer, RealPanel } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';
import { apiOf, holderOf } from './cut-off.ts';

/** Inbounds that Xray does not run: their clients have credentials all the same. */
const INBOUNDS: Readonly<Record<string, { protocol: string; settings: object }>> = {
  vmess: { protocol: 'vmess', settings: {} },
  trojan: { protocol: 'trojan', settings: { fallbacks: [] } },
  'shadowsocks 2022': {
    protocol: 'shadowsocks',
    settings: {
      method: '2022-blake3-aes-256-gcm',
      password: randomBytes(32).toString('base64'),
      network: 'tcp,udp',
    },
  },
  hysteria: { protocol: 'hysteria', settings: { version: 2 } },
  wireguard: {
    protocol: 'wireguard',
    settings: { mtu: 1_420, secretKey: randomBytes(32).toString('base64'), peers: [] },
  },
  mtproto: { protocol: 'mtproto', settings: { fakeTlsDomain: 'www.example.com' } },
};

type Call = ReturnType<typeof apiOf>;

async function addInbound(
  call: Call,
  remark: string,
  protocol: string,
  settings: object,
): Promise<number> {
  const [port = 0] = freePorts(1);
  const said = await call<{ success: boolean; msg: string; obj: { id: number } }>(
    'POST',
    '/inbounds/add',
    {
      remark,
      enable: false,
      port,
      protocol,
      settings: JSON.stringify({ clients: [], ...settings }),
      streamSettings: JSON.stringify({ network: 'tcp', security: 'none' }),
    },
  );
  if (!said.success) throw new Error(`${remark}: ${said.msg}`);
  return said.obj.id;
}

const cutAt = ({ api, kind }: RealPanel, key: string, panelAdmin = '') =>
  cutsAt({
    panel: kind,
    url: api.url,
    token: api.token,
    link: { key, panelUser: panelUserName(kind, null, key) },
    upstream: { panelAdmin },
  }).cut();

/** Does work with inbounds that are removed at the end, with their clients. */
async function withInbounds<T>(
  call: Call,
  wanted: readonly (readonly [remark: string, protocol: string, settings: object])[],
  work: (ids: number[]) => Promise<T>,
): Promise<T> {
  const ids: number[] = [];
  try {
    for (const [remark, protocol, settings] of wanted) {
      ids.push(await addInbound(call, remark, protocol, settings));
    }
    return await work(ids);
  } finally {
    for (const id of ids) await call('POST', `/inbounds/del/${id}`);
  }
}

async function ofEachProtocol(panel: RealPanel, cutOff: PanelCutOff): Promise<string> {
  const call = apiOf(panel);
  const email = `all_${crypto.randomUUID().slice(0, 8)}`;
  const subId = crypto.randomUUID();
  const client = {
    email,
    subId,
    enable: true,
    id: crypto.randomUUID(),
    flow: 'xtls-rprx-vision',
    comment: 'paid',
    group: 'seller-1',
    limitIp: 3,
    limitHwid: 4,
    totalGB: 5_000_000_000,
    expiryTime: Date.now() + 86_400_000,
    tgId: 42,
    reset: 30,
    resetMax: 2,
    trafficReset: 'monthly',
    trafficResetDay: 3,
  };
  const list = Object.entries(INBOUNDS).map(
    ([remark, { protocol, settings }]) => [remark, protocol, settings] as const,
  );
  return withInbounds(call, list, async (inboundIds) => {
    const added = await call<{ success: boolean; msg: string }>('POST', '/clients/add', {
      client,
      limitHwid: client.limitHwid,
      inboundIds,
    });
    expect(added).toMatchObject({ success: true });
    const ofInbounds = await call<{ obj: { settings: string } }>(
      'GET',
      `/inbounds/get/${inboundIds[2]}`,
    );
    expect(ofInbounds.obj.settings).toBeDefined();
    const before = await holderOf(panel, cutOff, email);
    for (const panelAdmin of ['seller-2', 'inbound:1', `inbound:${inboundIds[0]}`]) {
      expect(await cutAt(panel, subId, panelAdmin)).toMatchObject({ is: 'impossible' });
    }
    expect(await cutAt(panel, subId, 'seller-1')).toEqual({ is: 'done', interval: null });
    const after = await holderOf(panel, cutOff, email);
    const old = Object.values(before.credentials);
    expect(Object.keys(after.credentials)).toEqual(Object.keys(before.credentials));
    expect(Object.values(after.credentials).filter((value) => old.includes(value))).toEqual([]);
    expect(after.others).toEqual(before.others);
    // What Xray gets is what the client has.
    for (const id of inboundIds) {
      const { obj } = await call<{ obj: { settings: unknown } }>('GET', `/inbounds/get/${id}`);
      const text = typeof obj.settings === 'string' ? obj.settings : JSON.stringify(obj.settings);
      const given = Object.values(after.credentials).filter((value) => text.includes(value));
      expect([id, given.length > 0]).toEqual([id, true]);
      expect(old.filter((value) => text.includes(value))).toEqual([]);
    }
    const all = `inbound:${inboundIds.join()}`;
    expect(await cutAt(panel, subId, all)).toEqual({ is: 'done', interval: null });
    return Object.keys(before.credentials).toSorted().join(', ');
  });
}

/** Old versions of the panel make a client for each inbound, with one subscription. */
async function ofSeveralClients(panel: RealPanel, cutOff: PanelCutOff): Promise<string> {
  const call = apiOf(panel);
  const subId = crypto.randomUUID();
  const named = (nth: number) => ({
    email: `several_${nth}_${subId.slice(0, 8)}`,
    subId,
    enable: true,
    id: crypto.randomUUID(),
    password: crypto.randomUUID(),
    comment: `client ${nth}`,
  });
  const [one, two, three] = [named(1), named(2), named(3)];
  const list = [
    ['first', 'vmess', { clients: [one, two] }],
    ['second', 'trojan', { clients: [three] }],
  ] as const;
  return withInbounds(call, list, async () => {
    const emails = [one, two, three].map(({ email }) => email);
    const holders = () => Promise.all(emails.map((email) => holderOf(panel, cutOff, email)));
    const before = await holders();
    expect(await cutAt(panel, subId)).toEqual({ is: 'done', interval: null });
    const after = await holders();
    for (const [nth, holder] of after.entries()) {
      const old = Object.values(before[nth]?.credentials ?? {});
      const renewed = Object.values(holder.credentials);
      expect([renewed.length, renewed.filter((one) => old.includes(one))]).toEqual([
        old.length,
        [],
      ]);
      expect(holder.others).toEqual({ ...before[nth]?.others });
    }
    return `${emails.length} clients`;
  });
}

/** Writes the configuration of an app: the first server of a subscription, behind a SOCKS port. */
async function configOf(panel: RealPanel, { key }: Customer, port: number): Promise<string> {
  const got = await askPanel(panel, `/json/${encodeURIComponent(key)}`);
  type Config = { outbounds: { settings: object }[] };
  const json = JSON.parse(got.body) as Config | Config[];
  const [server] = (Array.isArray(json) ? json[0] : json)?.outbounds ?? [];
  // The panel names the host of the request; without TLS Xray takes an address of this machine.
  const settings = { ...server?.settings, address: '127.0.0.1', encryption: 'none' };
  const file = join(temporaryFolder(), 'config.json');
  const inbounds = [{ listen: '127.0.0.1', port, protocol: 'socks', settings: { auth: 'noauth' } }];
  writeFileSync(file, JSON.stringify({ inbounds, outbounds: [{ ...server, settings }] }));
  return file;
}

async function behindXray(panel: RealPanel, customer: Customer): Promise<string> {
  const xray = join(process.env['PANEL_BUILDS'] ?? 'dist/panels', '3x-ui', 'xray');
  const stands = Promise.withResolvers<ReadableStreamDefaultController>();
  const target = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    fetch: ({ url }) =>
      new Response(
        url.endsWith('/stands') ? new ReadableStream({ start: stands.resolve }) : 'hello',
      ),
  });
  const [oldPort = 0, newPort = 0] = freePorts(2);
  const apps: Bun.Subprocess[] = [];
  const start = (config: string) => {
    const app = Bun.spawn([xray, 'run', '-c', config], {
      env: plainEnv(),
      stdout: 'ignore',
      stderr: 'ignore',
    });
    apps.push(app);
  };
  const get = (port: number, path: string, seconds: number) => {
    const socks = `socks5h://127.0.0.1:${port}`;
    const words = ['--silent', '--no-buffer', '--max-time', `${seconds}`, '--noproxy', ''];
    const url = `http://127.0.0.1:${target.port}${path}`;
    const child = Bun.spawn(['curl', ...words, '--proxy', socks, url], {
      env: plainEnv(),
      stdout: 'pipe',
      stderr: 'ignore',
    });
    return new Response(child.stdout).text();
  };
  const isThrough = async (port: number) => (await get(port, '/', 2)) === 'hello';
  try {
    start(await configOf(panel, customer, oldPort));
    await until('the old configuration connects', () => isThrough(oldPort), 20_000);
    const standing = get(oldPort, '/stands', 30);
    const stream = await stands.promise;
    stream.enqueue('before ');
    expect(await cutAt(panel, customer.key)).toMatchObject({ is: 'done' });
    const startMs = Date.now();
    await until('it connects no more', async () => !(await isThrough(oldPort)), 20_000);
    const tookMs = Date.now() - startMs;
    start(await configOf(panel, customer, newPort));
    await until('the new configuration connects', () => isThrough(newPort), 20_000);
    expect(await isThrough(oldPort)).toBe(false);
    stream.enqueue('after');
    stream.close();
    const went = (await standing).endsWith('after') ? 'goes on' : 'ends';
    return `after ${Math.ceil(tookMs / 1_000)} s; a connection that stood ${went}`;
  } finally {
    for (const app of apps) {
      app.kill();
      await app.exited;
    }
    await target.stop(true);
  }
}

export const cutOffClientChecks: Checks = (check, kind) => {
  const { cutOff } = PANEL_TRAITS[kind];
  if (kind !== '3x-ui' || 'why' in cutOff) return;
  check('cut-off of a client of each protocol', (panel) => ofEachProtocol(panel, cutOff));
  check('cut-off of several clients of one subscription', (panel) =>
    ofSeveralClients(panel, cutOff),
  );
  check('cut-off behind Xray: the old configuration connects no more, the new one does', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      return behindXray(panel, customer);
    }),
  );
};
