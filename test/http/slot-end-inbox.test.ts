/** A slot that ends moves no inbox, in whatever way it ends, and locks its device out of none. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { hostHash } from '../../src/core/host-name.ts';
import { type KeyPath, readKeyPath } from '../../src/core/key-path.ts';
import { TOKEN_IDLE_DAYS } from '../../src/core/message/registration-rule.ts';
import type { LinkChange } from '../../src/core/port/link.ts';
import { hashKey } from '../../src/core/secret.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { removeProvider } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider } from '../support/app.ts';
import {
  byLink,
  inbox,
  order,
  REFUSED,
  readable,
  register,
  sendSecret,
  tryRegister,
} from '../support/messaging.ts';
import { addLink, bind, enter, type Link } from '../support/shop.ts';
import { type Fronted, HOST, KEY, startFronted } from '../support/upstream.ts';

const HASH = hostHash(HOST);
const VICTIM = 'victim';
const NEWCOMER = 'newcomer';
const TRUSTING = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [readKeyPath('/sub/{key}') as KeyPath],
};

let at: Fronted;
/** The device's link, and that of a stranger who knows its HWID. */
let own: Link;
let others: Link;
let token: string;

beforeEach(async () => {
  at = await startFronted(undefined, {}, TRUSTING);
  own = await addLink(at.app, at.own, 'LinkCode0001', 1);
  others = await addLink(at.app, at.own, 'LinkCode0002', 5);
  token = await register(at.app, byLink(VICTIM, own.code, HASH));
});
afterEach(() => at.stop());

async function change(more: LinkChange): Promise<void> {
  const provider = await at.app.core.store.findProvider(at.own.code);
  const changed = await at.app.core.store.updateLink(provider?.id ?? 0, own.id, more, ACT);
  expect(typeof changed).toBe('object');
}

const REPLACES = { whenFull: 'replace-oldest', coolDownHours: 1 } as const;
const byKey = () =>
  change({ ...REPLACES, subscriptionKeyHash: Buffer.from(hashKey(KEY)).toString('hex') });
const strange = () => tryRegister(at.app, byLink(VICTIM, others.code, HASH));

/** How a slot ends. */
const WAYS: Readonly<Record<string, () => Promise<void>>> = {
  'the provider deletes the HWID': async () => {
    const { json } = await call(at.app, '/api/delete-hwid', at.own, {
      install_id: own.id,
      hwid: VICTIM,
    });
    expect(json.rc).toBe(1);
  },
  'a newcomer at /install, the slot inactive': async () => {
    await change({ inactiveDays: 1 });
    await enter(at.app, NEWCOMER, own.code, HASH);
  },
  'a newcomer at /install replaces it': async () => {
    await change(REPLACES);
    await enter(at.app, NEWCOMER, own.code, HASH);
  },
  'a newcomer that registers replaces it': async () => {
    await change(REPLACES);
    await register(at.app, byLink(NEWCOMER, own.code, HASH));
  },
  'a newcomer at the gate replaces it': async () => {
    await byKey();
    const headers = {
      'x-forwarded-host': HOST,
      'x-forwarded-uri': `/sub/${KEY}`,
      'x-hwid': NEWCOMER,
    };
    const { status } = await fetch(`${at.app.url}/gate`, { headers });
    expect(status).toBe(204);
  },
  'a newcomer at the proxy replaces it': async () => {
    await byKey();
    expect((await at.get(`/sub/${KEY}`, NEWCOMER)).status).toBe(200);
  },
};

const isOn = async (link: Link) => {
  const { json } = await call(at.app, '/api/list-hwid', at.own, { install_id: link.id });
  return json.data.some(({ hwid }: { hwid: string }) => hwid === VICTIM);
};

describe.each(Object.entries(WAYS))('%s', (_, end) => {
  test.each([true, false])('a stranger with the HWID on a link before: %p', async (isBefore) => {
    const enterOther = () => enter(at.app, VICTIM, others.code, HASH);
    at.app.clock.advance(2 * DAY_MS);
    if (isBefore) await enterOther();
    await sendSecret(at.app, at.own, 'before', VICTIM);
    await end();
    expect(await isOn(own)).toBe(false);
    if (!isBefore) await enterOther();

    expect((await strange()).json).toEqual(REFUSED);
    await sendSecret(at.app, at.own, 'after', VICTIM);
    // The HWID has another slot, or its token ended with the only one: that one is told why.
    const both = ['before', 'after'];
    expect(await readable(at.app, token)).toEqual(isBefore ? both : 'Device token error');
    // Reinstalled: the token is gone, the link is not.
    await change({ installLimit: 5, whenFull: 'refuse', inactiveDays: 0 });
    const renewed = await register(at.app, byLink(VICTIM, own.code, HASH));
    expect(await readable(at.app, token)).toBe('Device token error');
    await sendSecret(at.app, at.own, 'later', VICTIM);
    expect(await readable(at.app, renewed)).toEqual(['later']);
    expect((await strange()).json).toEqual(REFUSED);
  });
});

test('a disabled link moves no inbox', async () => {
  await enter(at.app, VICTIM, others.code, HASH);
  await change({ status: 5 });
  expect((await strange()).json).toEqual(REFUSED);
  await sendSecret(at.app, at.own, 'after', VICTIM);
  expect(await readable(at.app, token)).toEqual(['after']);
  await change({ status: 10 });
  await register(at.app, byLink(VICTIM, own.code, HASH));
});

test('a provider that is removed moves no inbox at another', async () => {
  const rival = await seedProvider(at.app);
  await bind(at.app, rival, HASH);
  await addLink(at.app, rival, 'LinkCode0003', 5);
  const both = await register(at.app, byLink(VICTIM, 'LinkCode0003', HASH), token);
  await enter(at.app, VICTIM, others.code, HASH);
  await sendSecret(at.app, at.own, 'before', VICTIM);
  await removeProvider(at.app.core.store, rival.code);
  expect((await strange()).json).toEqual(REFUSED);
  expect(await readable(at.app, both)).toEqual(['before']);
});

test('a device that was forgotten leaves nothing to read', async () => {
  await sendSecret(at.app, at.own, 'before', VICTIM);
  await at.app.core.store.forgetDevice(VICTIM, ACT);
  const next = await register(at.app, byLink(VICTIM, others.code, HASH));
  expect(await readable(at.app, token)).toBe('Device token error');
  expect(await readable(at.app, next)).toEqual([]);
});

test('what was sent before a registration is not for the links behind the slot that ended', async () => {
  await at.app.core.store.forgetDevice(VICTIM, ACT);
  await enter(at.app, VICTIM, own.code, HASH);
  await enter(at.app, VICTIM, others.code, HASH);
  await sendSecret(at.app, at.own, 'for the first', VICTIM);
  await call(at.app, '/api/delete-hwid', at.own, { install_id: own.id, hwid: VICTIM });
  await sendSecret(at.app, at.own, 'for the second', VICTIM);
  const second = await register(at.app, byLink(VICTIM, others.code, HASH));
  expect(await readable(at.app, second)).toEqual(['for the second']);
});

describe('a place whose token is not shown', () => {
  const MORNING_MS = Date.UTC(2027, 0, 1, 9);
  const days = (count: number) => at.app.clock.set(MORNING_MS + count * DAY_MS);
  /** It waits for longer than a notification. */
  const command = async () => {
    await order(at.app, at.own, { action_type: 'update-subscription', hwid: VICTIM });
    await at.app.deliver();
  };
  const lose = () => call(at.app, '/api/delete-hwid', at.own, { install_id: own.id, hwid: VICTIM });

  test('moves after 30 days, and opens later messages alone', async () => {
    days(0);
    await readable(at.app, token);
    await enter(at.app, VICTIM, others.code, HASH);
    await lose();
    days(TOKEN_IDLE_DAYS);
    // Calls of anybody with the HWID show no token.
    await enter(at.app, VICTIM, others.code, HASH);
    await command();
    expect((await strange()).json).toEqual(REFUSED);
    days(TOKEN_IDLE_DAYS + 1);
    const next = await register(at.app, byLink(VICTIM, others.code, HASH));
    expect(await readable(at.app, token)).toBe('Device token error');
    await sendSecret(at.app, at.own, 'after', VICTIM);
    expect(await readable(at.app, next)).toEqual(['after']);
    // Registering once more opens no more.
    const renewed = await register(at.app, byLink(VICTIM, others.code, HASH), next);
    const again = await register(at.app, byLink(VICTIM, others.code, HASH));
    expect(await readable(at.app, renewed)).toBe('Device token error');
    expect(await readable(at.app, again)).toEqual(['after']);
  });

  test('stays as long as its token is shown, whoever else calls with the HWID that day', async () => {
    await enter(at.app, VICTIM, others.code, HASH);
    await lose();
    for (const day of [0, 20, 40, 60]) {
      days(day);
      // First: a sight of the device is none of its token.
      await enter(at.app, VICTIM, others.code, HASH);
      expect((await inbox(at.app, token)).json.rc).toBe(1);
    }
    days(60 + TOKEN_IDLE_DAYS);
    expect((await strange()).json).toEqual(REFUSED);
  });

  test('stays with its own link that long, with all that it opened', async () => {
    days(0);
    await readable(at.app, token);
    days(3 * TOKEN_IDLE_DAYS);
    await command();
    const renewed = await register(at.app, byLink(VICTIM, own.code, HASH));
    expect(await readable(at.app, renewed)).toEqual(['update-subscription']);
  });
});

test('a token that is shown with a new link claims by that one', async () => {
  await enter(at.app, VICTIM, others.code, HASH);
  await call(at.app, '/api/delete-hwid', at.own, { install_id: own.id, hwid: VICTIM });
  const third = await addLink(at.app, at.own, 'LinkCode0003', 5);
  await register(at.app, byLink(VICTIM, third.code, HASH), token);
  expect((await strange()).json).toEqual(REFUSED);
  const renewed = await register(at.app, byLink(VICTIM, third.code, HASH));
  expect(await readable(at.app, renewed)).toEqual([]);
});
