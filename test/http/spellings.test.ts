/**
 * One subscription, many spellings and credentials: over the proxy and the gate, on either store. A
 * line of {@link ROWS} is one way to ask a panel for the servers of a customer whose link is full.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import type { PanelKey, PanelKind } from '../../src/core/panel/kind.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { call } from '../support/app.ts';
import { answer, type PanelCall } from '../support/panel.ts';
import { expectOk } from '../support/shop.ts';
import { SECRET } from '../support/signing-panel.ts';
import {
  MARZBAN_TOKEN,
  PASARGUARD_TOKEN,
  replyOf,
  SERVERS,
  SHORT_UUID,
  SUB_ID,
  UUID,
} from '../support/spelled-panels.ts';
import { exchange, type Fronted, HOST, keyPath, startFronted } from '../support/upstream.ts';

const CODED = encodeURIComponent(SUB_ID);
const BY_KEY = { 'Hiddify-API-Key': UUID };
const BY_BASIC = { Authorization: `Basic ${btoa(`${UUID}:`)}` };
const BY_COOKIE = { Cookie: 'session=signed-for-the-user' };
const PERSON = { Accept: 'text/html' };
/** Codes each character of a text. */
const coded = (text: string) =>
  Buffer.from(text).reduce((all, byte) => `${all}%${byte.toString(16).padStart(2, '0')}`, '');
const UPPER = UUID.toUpperCase();
const MIXED = UUID.replace('f', 'F');

/** How each panel stands behind Gatepost, and the path that its links have. */
const SITES: Readonly<Record<PanelKind, { key: PanelKey; template: string; path: string }>> = {
  hiddify: { key: 'hiddify', template: '/CL/{key}', path: `/CL/${UUID}/auto` },
  '3x-ui': { key: 'plain', template: '/sub/{key}', path: `/sub/${CODED}` },
  marzban: { key: 'marzban', template: '/sub/{key}', path: `/sub/${MARZBAN_TOKEN}` },
  pasarguard: { key: 'pasarguard', template: '/sub/{key}', path: `/sub/${PASARGUARD_TOKEN}` },
  remnawave: { key: 'plain', template: '/{key}', path: `/${SHORT_UUID}` },
};

/**
 * `same`: the spelling counts on the customer's link; `none`: it opens nothing; `proxy`: `same` at
 * the proxy, whose server resolves dots before it passes the path on, and `none` at the gate.
 */
type Row = readonly [PanelKind, string, 'same' | 'none' | 'proxy', Record<string, string>?];

const ROWS: readonly Row[] = [
  ['hiddify', `/CL/${UUID}`, 'same'],
  ['hiddify', `/CL/${UUID}/`, 'same'],
  ['hiddify', `/CL/${UPPER}/auto`, 'same'],
  ['hiddify', `/CL/${MIXED}/singbox/`, 'same'],
  ['hiddify', `/CL/${coded(UUID)}/auto`, 'same'],
  ['hiddify', `/CL/${coded(UPPER)}/auto`, 'same'],
  ['hiddify', `/CL/${UUID.replaceAll('-', '%2D')}/auto`, 'same'],
  ['hiddify', `/cl/${UUID}/auto`, 'none'],
  ['hiddify', `/CL/0/${UUID}/auto`, 'none'],
  ['hiddify', `/CL/00/${UUID}/auto`, 'none'],
  ['hiddify', `/CL/000000000000/${UPPER}`, 'none'],
  ['hiddify', `/CL//${UUID}/auto`, 'none'],
  ['hiddify', `/CL/./${UUID}/auto`, 'proxy'],
  ['hiddify', `/CL/x/../${UUID}/auto`, 'proxy'],
  ['hiddify', `/CL/%2e/${UUID}/auto`, 'proxy'],
  ['hiddify', `/CL%2F${UUID}/auto`, 'none'],
  ['hiddify', `/%43L/${UUID}/auto`, 'none'],
  ['hiddify', `/CL/${UUID};a/auto`, 'none'],
  ['hiddify', `/CL/${UUID}%00/auto`, 'none'],
  ['hiddify', `/CL/${UUID}%20/auto`, 'none'],
  ['hiddify', `/CL/${UUID.replaceAll('-', '')}/auto`, 'none'],
  ['hiddify', `/CL/{${UUID}}/auto`, 'none'],
  ['hiddify', '/CL/client/auto', 'none', BY_KEY],
  ['hiddify', '/CL/client/auto', 'none', BY_BASIC],
  ['hiddify', '/CL/client/auto', 'none', BY_COOKIE],
  ['hiddify', '/CL/000/sub', 'none', BY_KEY],
  ['hiddify', '/CL/000/sub', 'none', BY_BASIC],
  ['hiddify', '/CL/000/sub', 'none', BY_COOKIE],
  ['hiddify', '/CL/api/v2/user/all-configs/', 'none', BY_KEY],
  ['hiddify', '/CL/api/v2/user/all-configs/', 'none', BY_COOKIE],
  ['hiddify', `/CL/${UUID}/api/v2/user/all-configs/`, 'same'],
  ['hiddify', '/CL/ANY/generate_204', 'none'],
  ['hiddify', `/CL/${UUID.replace('3', '4')}/generate_204`, 'none'],
  ['hiddify', '/CL/0/', 'none'],
  ['hiddify', '/CL/static/app.css', 'none'],
  ['3x-ui', `/sub/${coded(SUB_ID)}`, 'same'],
  ['3x-ui', `/sub/%41${CODED.slice(1)}`, 'same'],
  ['3x-ui', `/json/${CODED}`, 'none'],
  ['3x-ui', `/sub/${CODED.toLowerCase()}`, 'none'],
  ['3x-ui', `/sub/${encodeURIComponent(SUB_ID.normalize('NFD'))}`, 'none'],
  ['3x-ui', `/sub/${CODED}%20`, 'none'],
  ['3x-ui', `/sub/${CODED}%00`, 'none'],
  ['3x-ui', `/sub/x%2f..%2f${CODED}`, 'none'],
  ['3x-ui', `/sub/${CODED};a=b`, 'none'],
  ['3x-ui', `//sub/${CODED}`, 'none'],
  ['3x-ui', `/sub/${CODED}`, 'none', PERSON],
  ['marzban', `/sub/${coded(MARZBAN_TOKEN)}`, 'same'],
  ['marzban', `/sub/${MARZBAN_TOKEN}/clash`, 'same'],
  ['marzban', `/sub/${MARZBAN_TOKEN}=`, 'none'],
  ['marzban', `/sub/${MARZBAN_TOKEN}`, 'none', PERSON],
  ['marzban', `/sub/x/${MARZBAN_TOKEN}`, 'none'],
  ['pasarguard', `/sub/${coded(PASARGUARD_TOKEN)}`, 'same'],
  ['pasarguard', `/sub/${PASARGUARD_TOKEN}/sing_box`, 'same'],
  ['pasarguard', `/sub/${PASARGUARD_TOKEN}%3D`, 'none'],
  ['pasarguard', `/sub/${PASARGUARD_TOKEN}`, 'none', PERSON],
  ['remnawave', `/${coded(SHORT_UUID)}`, 'same'],
  ['remnawave', `/${SHORT_UUID}/clash`, 'same'],
  ['remnawave', `/${SHORT_UUID.toLowerCase()}`, 'none'],
  ['remnawave', `/api/sub/${SHORT_UUID}`, 'none'],
];

const FACTS = { os: 'android', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
const SECRET_FILE = '/panel-secret';
const OPTIONS = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  registrationsPerMinuteMax: 10_000,
  authFailuresPerMinuteMax: 100_000,
  secretOf: (file: string) => (file === SECRET_FILE ? SECRET : null),
};

async function behaveAs(kind: PanelKind, { head, method, send, socket, target }: PanelCall) {
  const header = (name: string) =>
    new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trimEnd() ?? '';
  const reply = replyOf(kind, { target, header });
  if (reply === null) return void socket.destroy();
  await send(answer(reply.status, method === 'HEAD' ? '' : reply.body, reply.headers));
}

/** The doors: each asks for a path with a HWID, and returns the body that a device would get. */
interface Door {
  at: Fronted;
  ask(path: string, hwid: string | null, headers?: Record<string, string>): Promise<string>;
  /** Returns whether the device gets in. */
  admits(path: string, hwid: string, method?: 'GET' | 'HEAD'): Promise<boolean>;
}

type Open = (kind: PanelKind, key?: PanelKey) => Promise<Door>;

const openProxy: Open = async (kind, key = SITES[kind].key) => {
  const { template } = SITES[kind];
  const panel = key === 'plain' && kind === 'marzban' ? '' : kind;
  const terms = { panel, key, keyPaths: [keyPath(template)], defaultLimit: 1 } as const;
  const behave = panel === '' ? undefined : (question: PanelCall) => behaveAs(kind, question);
  const at = await startFronted(behave, terms, OPTIONS);
  const port = Number(new URL(at.app.url).port);
  return {
    at,
    ask: async (path, hwid, headers) => (await at.get(path, hwid, headers)).body,
    admits: async (path, hwid, method = 'GET') =>
      (await exchange(port, method, path, { 'x-hwid': hwid })).status === 200,
  };
};

/** A proxy of the operator's in front of the panel, which asks the gate as the recipes do. */
const openGate: Open = async (kind, key = SITES[kind].key) => {
  const signs = key === 'marzban' || key === 'pasarguard';
  const gate = { gateKey: key, gateKeySecretFile: signs ? SECRET_FILE : '' };
  const gateKeyPaths = [keyPath(SITES[kind].template)];
  const at = await startFronted(undefined, {}, { ...OPTIONS, ...gate, gateKeyPaths });
  at.app.settings.gateUpstreams = [];
  const statusOf = async (
    path: string,
    hwid: string | null,
    headers: Record<string, string> = {},
    method = 'GET',
  ) => {
    const asked = {
      'x-original-uri': path,
      'x-original-method': method,
      'x-forwarded-host': HOST,
      'x-forwarded-for': '198.51.100.7',
      ...(hwid !== null && { 'x-hwid': hwid }),
      ...headers,
    };
    return (await fetch(`${at.app.url}/gate`, { headers: asked })).status;
  };
  const ask: Door['ask'] = async (path, hwid, headers = {}) => {
    if ((await statusOf(path, hwid, headers)) !== 204) return '';
    const dropped = ['cookie', 'authorization', 'hiddify-api-key'];
    const sent = Object.entries(headers).filter(([name]) => !dropped.includes(name.toLowerCase()));
    const header = (name: string) => sent.find(([one]) => one.toLowerCase() === name)?.[1] ?? '';
    return replyOf(kind, { target: path, header })?.body ?? '';
  };
  const admits: Door['admits'] = async (path, hwid, method) =>
    (await statusOf(path, hwid, {}, method)) === 204;
  return { at, ask, admits };
};

/** Adds links for keys, each a second after the one before. */
async function addLinks({ at }: Door, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    at.app.clock.advance(1_000);
    const link = { install_limit: 1, subscription_key: key };
    await expectOk(call(at.app, '/api/add-install', at.own, link));
  }
}

/** The keys of the customer. */
const OWN_KEYS: Readonly<Record<PanelKind, string>> = {
  hiddify: UUID,
  '3x-ui': SUB_ID,
  marzban: 'marzban/anna',
  pasarguard: 'pasarguard/7',
  remnawave: SHORT_UUID,
};

const KINDS: readonly PanelKind[] = ['hiddify', '3x-ui', 'marzban', 'pasarguard', 'remnawave'];

describe.each([
  ['the proxy', openProxy],
  ['the gate', openGate],
] as const)('at %s', (_door, open) => {
  describe.each(KINDS)('before %s', (kind) => {
    let door: Door;
    beforeAll(async () => {
      door = await open(kind);
      if (open === openGate) await addLinks(door, OWN_KEYS[kind]);
      expect(await door.ask(SITES[kind].path, 'first')).toContain(SERVERS);
    });
    afterAll(() => door.at.stop());

    const rows = ROWS.filter(([of]) => of === kind).map(
      ([, path, means, headers]) => [path, headers ?? {}, means] as const,
    );
    test.each(rows)('%s with %j: %s', async (path, headers, means) => {
      const isPerson = headers === PERSON;
      const body = await door.ask(path, isPerson ? null : 'second', headers);
      expect(body).not.toContain(SERVERS);
      expect(await door.at.links()).toMatchObject([{ count: 1 }]);
      const own = await door.ask(path, isPerson ? null : 'first', headers);
      const isProxy = open === openProxy;
      const isSame = means === 'same' || (means === 'proxy' && isProxy);
      expect(own.includes(SERVERS)).toBe(isSame);
      expect(await door.at.links()).toHaveLength(1);
    });
  });
});

describe.each([
  ['proxy', openProxy],
  ['gate', openGate],
] as const)('links of an older version at the %s', (_name, open) => {
  const FOLDED = `/CL/${UUID}/auto`;
  const WRITTEN = `/CL/${UPPER}/auto`;
  let door: Door;
  afterEach(() => door.at.stop());

  async function given(kind: PanelKind, key: PanelKey, ...keys: string[]): Promise<void> {
    door = await open(kind, key);
    await addLinks(door, ...keys);
  }
  async function take(key: string, hwid: string): Promise<void> {
    const { app, own } = door.at;
    const named = { subscriptionKeyHash: subscriptionKeyHash(key), providerCode: own.code };
    const slot = { ...named, domainHash: hostHash(HOST), hwid };
    const taken = await app.core.store.takeSlot(slot, FACTS, app.clock.nowMs());
    expect(taken).toHaveProperty('deviceCount');
  }

  test('a key in capitals becomes the UUID: its device stays, and the link is full', async () => {
    await given('hiddify', 'hiddify', UPPER);
    await take(UPPER, 'old');
    expect(await door.admits(WRITTEN, 'old')).toBe(true);
    for (const path of [FOLDED, WRITTEN]) expect(await door.admits(path, 'new')).toBe(false);
    expect(await door.admits(FOLDED, 'old')).toBe(true);
    expect(await door.at.links()).toMatchObject([{ count: 1, limit: 1 }]);
  });

  test('two links become one that keeps all devices, and admits none more', async () => {
    await given('hiddify', 'hiddify', UPPER, UUID);
    await take(UPPER, 'old');
    await take(UUID, 'late');
    const atOnce = [
      ...[door.admits(WRITTEN, 'old'), door.admits(FOLDED, 'late')],
      ...[door.admits(WRITTEN, 'new'), door.admits(WRITTEN, 'late')],
    ];
    expect(await Promise.all(atOnce)).toEqual([true, true, false, true]);
    expect(await door.at.links()).toMatchObject([{ count: 2, limit: 1 }]);
    expect(await door.admits(FOLDED, 'old')).toBe(true);
    expect(await door.admits(FOLDED, 'new')).toBe(false);
  });

  test('HEAD joins nothing, and is judged by the link of the device', async () => {
    await given('hiddify', 'hiddify', UPPER, UUID);
    await take(UPPER, 'old');
    await take(UUID, 'late');
    expect(await door.admits(WRITTEN, 'old', 'HEAD')).toBe(true);
    expect(await door.admits(WRITTEN, 'late', 'HEAD')).toBe(true);
    expect(await door.admits(WRITTEN, 'new', 'HEAD')).toBe(false);
    expect(await door.at.links()).toHaveLength(2);
  });

  test('without a binding of the host no links join', async () => {
    await given('hiddify', 'hiddify', UPPER, UUID);
    await take(UPPER, 'old');
    const { json } = await call(door.at.app, '/api/list-domain', door.at.own);
    await call(door.at.app, '/api/delete-domain', door.at.own, { id: json.data[0].id });
    expect(await door.admits(WRITTEN, 'old')).toBe(false);
    expect(await door.at.links()).toHaveLength(2);
  });

  test('two spellings at once make one link', async () => {
    await given('hiddify', 'hiddify', ...(open === openGate ? [UUID] : []));
    const paths = Array.from({ length: 20 }, (_, n) => [FOLDED, WRITTEN, `/CL/${MIXED}`][n % 3]);
    const got = await Promise.all(paths.map((path, n) => door.admits(path ?? '', `phone-${n}`)));
    expect(got.filter((isIn) => isIn)).toHaveLength(1);
    expect(await door.at.links()).toMatchObject([{ count: 1 }]);
  });

  test('two Unicode forms are one key where the panel is not known to tell them apart', async () => {
    const key = 'anne\u0301';
    const before = key.normalize('NFKC');
    const path = `/sub/${encodeURIComponent(key)}`;
    await given('marzban', 'plain', before);
    await take(before, 'old');
    expect(await door.admits(path, 'old')).toBe(true);
    expect(await door.admits(path, 'old', 'HEAD')).toBe(true);
    expect(await door.admits(path, 'new')).toBe(false);
    expect(await door.at.links()).toMatchObject([{ count: 1 }]);
  });
});
