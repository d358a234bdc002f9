/** Cut off: the panel makes the credentials of a customer new, and nothing else changes. */

import { expect } from 'bun:test';
import type { CredentialHolder, PanelCutOff } from '../../../src/core/panel/credentials.ts';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import { recordIn } from '../../../src/core/panel/record.ts';
import { panelUserName } from '../../../src/core/panel/user.ts';
import { layersOf, strangeIn } from '../../support/made-up.ts';
import { cutsAt } from '../../support/panel-cuts.ts';
import {
  type RecordedCutOff,
  recordedCutOff,
  recordedFolder,
  writeCutOff,
} from '../../support/recorded.ts';
import { clientOf } from '../api.ts';
import { askPanel, hasServers, linkKeyOf, withCustomers } from '../appliance.ts';
import type { Customer, RealKind, RealPanel } from '../panel.ts';
import { customerOf } from '../panels/signing.ts';
import type { Checks } from '../real-panel-tests.ts';
import { namesIn, recordApi } from '../recorder.ts';
import { Scrubber } from '../scrubber.ts';

/** A client of the panel's API, by its administrator. */
export function apiOf({ api, kind }: RealPanel) {
  const root = `${api.url}${kind === '3x-ui' ? '/panel/api' : '/api'}`;
  return clientOf(root, { authorization: `Bearer ${api.token}` });
}

/** Returns the link of a customer, as an answer of the panel proved it. */
async function linkOf(panel: RealPanel, customer: Customer) {
  const key = linkKeyOf(panel.kind, customer);
  const user = panel.kind === 'pasarguard' ? await numberOf(panel, customer) : customer.id;
  const id = panel.kind === '3x-ui' ? null : user;
  return { key, panelUser: panelUserName(panel.kind, id, key) };
}

async function numberOf(panel: RealPanel, { name }: Customer): Promise<string> {
  return String((await apiOf(panel)<{ id: number }>('GET', `/user/${name}`)).id);
}

type Options = Partial<Parameters<typeof cutsAt>[0]>;

async function cutterOf(panel: RealPanel, customer: Customer, more: Options = {}) {
  const { url, token } = panel.api;
  return cutsAt({ panel: panel.kind, url, token, link: await linkOf(panel, customer), ...more });
}

/** Reads what has credentials of a customer, as a cut-off does. */
export async function holderOf(
  panel: RealPanel,
  { read }: PanelCutOff,
  name: string,
): Promise<CredentialHolder> {
  const { headersOf } = PANEL_TRAITS[panel.kind].api;
  const holder = await read(name, async (path) => {
    const got = await fetch(panel.api.url + path, { headers: headersOf(panel.api.token) });
    return got.json();
  });
  if (holder === null) throw new Error(`no customer ${name}`);
  return holder;
}

/** Returns the credentials in a subscription that are also in a list. */
async function servedOf(panel: RealPanel, { path }: Customer, values: readonly string[]) {
  const got = await askPanel(panel, path);
  expect(hasServers(got)).toBe(true);
  const text = `${got.body}\n${Buffer.from(got.body, 'base64').toString('latin1')}`;
  const links = text.split('\n').map((line) => {
    const [, coded = ''] = /^(?:vmess|ss):\/\/([\w+/=-]+)/.exec(line) ?? [];
    return `${line} ${Buffer.from(coded, 'base64')}`;
  });
  return values.filter((value) => links.some((line) => line.includes(value)));
}

/** Does work while Xray of Marzban has inbounds of each protocol, of VLESS two. */
async function withAllProtocols<T>(panel: RealPanel, work: () => Promise<T>): Promise<T> {
  const call = apiOf(panel);
  const config = await call<{ inbounds: object[] }>('GET', '/core/config');
  const named = ['VLESS 1', 'VLESS 2', 'VMESS 1', 'TROJAN 1'];
  const inbounds = named.map((tag, nth) => ({
    tag,
    listen: '127.0.0.1',
    port: 20_001 + nth,
    protocol: tag.split(' ')[0]?.toLowerCase(),
    settings: { clients: [], decryption: 'none' },
    streamSettings: { network: 'tcp', security: 'none' },
  }));
  await call('PUT', '/core/config', { ...config, inbounds: [...config.inbounds, ...inbounds] });
  try {
    return await work();
  } finally {
    await call('PUT', '/core/config', config);
  }
}

/** A plan that the customer paid ahead, as both panels take it. */
const PLAN = { data_limit: 1_073_741_824, expire: 2_592_000, add_remaining_traffic: true };

export const cutOffChecks: Checks = (check, kind) => {
  const { cutOff } = PANEL_TRAITS[kind];
  if ('why' in cutOff) {
    check('cut-off is refused, and the panel is not asked', (panel) =>
      withCustomers(panel, [{}], async ([customer]) => {
        if (customer === undefined) throw new Error('no customer');
        const { key } = customer;
        const link = { key, panelUser: `${kind}:1` };
        const { cuts, upstream, cut } = cutsAt({ panel: kind, url: 'http://127.0.0.1:9', link });
        expect(cuts.canCut(upstream)).toEqual({ possible: false, why: cutOff.why });
        expect(await cut()).toEqual({ is: 'impossible', why: cutOff.why });
        return cutOff.why;
      }),
    );
    return;
  }

  check('cut-off makes the credentials new, and the link and all other fields stay', (panel) =>
    withCustomers(panel, [{ note: 'paid until May' }, {}], async ([customer, other]) => {
      if (customer === undefined || other === undefined) throw new Error('no customer');
      const names: Record<string, string> = {};
      for (const one of [customer, other]) {
        names[one.name] = kind === 'pasarguard' ? await numberOf(panel, one) : one.id;
      }
      const read = (one: Customer) => holderOf(panel, cutOff, names[one.name] ?? '');
      const [before, bystander] = [await read(customer), await read(other)];
      const old = Object.values(before.credentials);
      expect(await servedOf(panel, customer, old)).not.toEqual([]);
      const { cut } = await cutterOf(panel, customer);
      expect(await cut()).toMatchObject({ is: 'done' });
      const after = await read(customer);
      expect(Object.keys(after.credentials)).toEqual(Object.keys(before.credentials));
      const renewed = Object.values(after.credentials);
      expect(renewed.filter((value) => old.includes(value))).toEqual([]);
      expect({ keys: after.keys, others: after.others }).toEqual({
        keys: before.keys,
        others: before.others,
      });
      // The address of before has the new servers, and no old one.
      expect(await servedOf(panel, customer, old)).toEqual([]);
      expect(await servedOf(panel, customer, renewed)).not.toEqual([]);
      const { credentials } = await read(other);
      expect(credentials).toEqual(bystander.credentials);
      return Object.keys(before.credentials).toSorted().join(', ');
    }),
  );

  check('cut-off leaves customers who ended, are disabled or on hold as they are', (panel) => {
    const states = panel.users.states.filter((state) => state !== 'active');
    const specs = states.map((state) => ({ state }));
    return withCustomers(panel, specs, async (customers) => {
      for (const [nth, customer] of customers.entries()) {
        const name = kind === 'pasarguard' ? await numberOf(panel, customer) : customer.id;
        const before = await holderOf(panel, cutOff, name);
        const { cut } = await cutterOf(panel, customer);
        const outcome = await cut();
        const { others } = await holderOf(panel, cutOff, name);
        expect({ state: states[nth], is: outcome.is, others }).toEqual({
          state: states[nth],
          is: 'done',
          others: before.others,
        });
      }
      return states.join(', ');
    });
  });

  if (kind === 'marzban') {
    check('cut-off makes each protocol new, and leaves flow, method and inbounds', (panel) =>
      withAllProtocols(panel, async () => {
        const call = apiOf(panel);
        const name = `all_${crypto.randomUUID().slice(0, 8)}`;
        const proxies = {
          vless: { flow: 'xtls-rprx-vision' },
          vmess: {},
          trojan: { flow: 'xtls-rprx-vision' },
          shadowsocks: { method: 'aes-256-gcm' },
        };
        const inbounds = { vless: ['VLESS 1'] };
        const made = await call('POST', '/user', { username: name, proxies, inbounds });
        const customer = customerOf(name, made);
        try {
          const before = await holderOf(panel, cutOff, name);
          expect(before.others['proxies']).toEqual(proxies);
          const { cut } = await cutterOf(panel, customer);
          expect(await cut()).toEqual({ is: 'done', interval: null });
          const after = await holderOf(panel, cutOff, name);
          expect(after.others).toEqual(before.others);
          const old = Object.values(before.credentials);
          expect(Object.values(after.credentials).filter((one) => old.includes(one))).toEqual([]);
          return Object.keys(after.credentials).toSorted().join(', ');
        } finally {
          await panel.users.remove(customer);
        }
      }),
    );
  }

  if (kind === 'marzban' || kind === 'pasarguard') {
    check('cut-off leaves a plan that was paid ahead', (panel) =>
      withCustomers(panel, [{}], async ([customer]) => {
        if (customer === undefined) throw new Error('no customer');
        const call = apiOf(panel);
        const at = `/user/${customer.name}`;
        await call('PUT', at, { next_plan: PLAN });
        const planned = async () => recordIn(await call('GET', at))['next_plan'];
        const before = await planned();
        expect(before).toMatchObject(PLAN);
        const { cut } = await cutterOf(panel, customer);
        expect(await cut()).toMatchObject({ is: 'done' });
        expect(await planned()).toEqual(before);
        // So that a change without it is known to delete it.
        await call('PUT', at, { note: 'x' });
        expect(await planned()).toBeNull();
        return 'a change that leaves it out deletes it';
      }),
    );
  }

  check('cut-off of a user of another admin changes nothing', async (panel) => {
    if (panel.secondAdmin === undefined) return 'each token shows all users';
    const [admin, other] = [await panel.secondAdmin(), await panel.secondAdmin()];
    const theirs = await admin.add(`theirs_${crypto.randomUUID().slice(0, 8)}`);
    try {
      const { cut } = await cutterOf(panel, theirs, { upstream: { panelAdmin: 'nobody' } });
      const why = 'the user does not belong to panel_admin of the upstream';
      expect(await cut()).toEqual({ is: 'impossible', why });
      const own = await cutterOf(panel, theirs, { upstream: { panelAdmin: admin.name } });
      expect(await own.cut()).toMatchObject({ is: 'done' });
      // By the tokens of both admins.
      const byOther = await cutterOf(panel, theirs, { token: other.token });
      expect(await byOther.cut()).toMatchObject({ is: 'impossible' });
      const byOwn = await cutterOf(panel, theirs, { token: admin.token });
      expect(await byOwn.cut()).toMatchObject({ is: 'done' });
      return 'with panel_admin of that admin, and by its own token, it is done';
    } finally {
      await panel.users.remove(theirs);
    }
  });

  check('cut-off of a user who is gone, and with a wrong token', (panel) =>
    withCustomers(panel, [{}, {}], async ([customer, gone]) => {
      if (customer === undefined || gone === undefined) throw new Error('no customer');
      const ofGone = await cutterOf(panel, gone);
      await panel.users.remove(gone);
      expect(await ofGone.cut()).toMatchObject({ is: 'impossible' });
      const wrong = await cutterOf(panel, customer, { token: 'none' });
      const said = await wrong.cut();
      expect(said).toMatchObject({ is: 'failed', seen: null });
      return 'why' in said ? said.why : '';
    }),
  );

  check('its answers to a cut-off have the form of those that are recorded', async (panel) => {
    const recorded = await record(panel, kind);
    const folder = recordedFolder(kind, panel.version);
    if (process.env['PANEL_RECORD'] === '1') writeCutOff(folder, recorded);
    const known = recordedCutOff(folder);
    if (known === null) return { held: false, note: `nothing is recorded of ${folder}` };
    const formOf = ({ exchanges }: RecordedCutOff) =>
      Object.values(exchanges)
        .flat()
        // A list has what other checks left.
        .filter(({ path }) => !path.includes('/list/'))
        .map(({ method, sent, status, body }) => [
          method,
          status,
          ...[...namesIn({ sent, body })].toSorted(),
        ]);
    expect(formOf(recorded)).toEqual(formOf(known));
    return `${Object.values(recorded.exchanges).flat().length} answers`;
  });
};

/** Records what cut-offs ask and change, with made-up values in place of all secrets. */
async function record(panel: RealPanel, kind: RealKind): Promise<RecordedCutOff> {
  const recorder = recordApi(panel.api.url);
  const specs = [{ name: 'cut_off', note: 'paid until May' }, { name: 'cut_off_gone' }];
  try {
    return await withCustomers(panel, specs, async ([customer, gone]) => {
      if (customer === undefined || gone === undefined) throw new Error('no customer');
      if (kind === 'marzban' || kind === 'pasarguard') {
        await apiOf(panel)('PUT', `/user/${customer.name}`, { next_plan: PLAN });
      }
      const { key, panelUser } = await linkOf(panel, customer);
      const id = kind === '3x-ui' ? null : panelUser.slice(kind.length + 1);
      const asked = async (one: Customer, token = panel.api.token) => {
        const { cut } = await cutterOf(panel, one, { url: recorder.url, token });
        await cut();
        return recorder.taken();
      };
      const ofGone = await cutterOf(panel, gone, { url: recorder.url });
      await panel.users.remove(gone);
      const done = await asked(customer);
      const refused = await asked(customer, 'none');
      await ofGone.cut();
      const exchanges = { done, refused, gone: recorder.taken() };
      return cleaned(panel, { key, id, exchanges });
    });
  } finally {
    await recorder.stop();
  }
}

function cleaned({ api, kind }: RealPanel, recorded: RecordedCutOff): RecordedCutOff {
  const scrubber = new Scrubber(kind);
  scrubber.learn(api.token);
  if (recorded.id === null) scrubber.learn(recorded.key);
  scrubber.learnFrom(recorded);
  const clean = scrubber.clean(recorded);
  const layers = layersOf(JSON.stringify(clean));
  const left = scrubber.secrets.filter((secret) => layers.some((layer) => layer.includes(secret)));
  expect(left).toEqual([]);
  expect(strangeIn(JSON.stringify(clean))).toEqual([]);
  return clean;
}
