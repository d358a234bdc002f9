/**
 * Each form of address that bots hand out, with another customer of the provider as the thief: he
 * puts his own code into the address of his neighbour, or has the whole of it, at each state of his
 * link and of his neighbour's.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hostHash } from '../../../src/core/host-name.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { call } from '../../support/app.ts';
import { BOT_FORMS, type BotForm, sentOf } from '../../support/bot-forms.ts';
import { type Fronted, HOST, startFronted } from '../../support/upstream.ts';

let at: Fronted;

const statusOf = async (path: string, hwid: string) => (await at.get(path, hwid)).status;
const linkOf = (code: string) => at.app.core.store.findLink(code);
const holderOf = async (key: string) =>
  (await at.app.core.store.findLinksByKey(subscriptionKeyHash(key)))[0] ?? null;

async function update(code: string, change: Record<string, number | string>): Promise<void> {
  await call(at.app, '/api/update-install', at.own, {
    id: (await linkOf(code))?.id ?? 0,
    ...change,
  });
}

/** Put the link of a code, with one device, into a state. */
const STATES = {
  active: async () => {},
  disabled: (code: string) => update(code, { status: 5 }),
  ended: async (code: string) => {
    await call(at.app, '/api/remove-install', at.own, { id: (await linkOf(code))?.id ?? 0 });
  },
  full: (code: string) => update(code, { install_limit: 1 }),
};
type State = keyof typeof STATES;
const ALL = Object.keys(STATES) as State[];
const serves = (state: State) => state === 'active' || state === 'full';

let count = 0;
/** A customer whom no other test has, to whom the bot sold a link. */
async function customer(key: (code: string) => string | null) {
  const n = String(++count).padStart(4, '0');
  const [code, own] = [`BotLink0${n}`, `customer-key-${n}`];
  const given = key(code);
  const query = { install_code: code, install_limit: 2, ...(given && { subscription_key: given }) };
  expect((await call(at.app, '/api/add-install', at.own, query)).json.rc).toBe(1);
  return { code, key: given ?? own, phone: `phone-${n}` };
}

/** A neighbour in whose address the code or the key is, and whose phone has its slot. */
async function neighbour(form: BotForm, isPatched: boolean) {
  const key = (code: string) => (form.isKey ? code : `customer-key-${code}`);
  const made = await customer((code) => (isPatched ? key(code) : null));
  const theirs = { ...made, key: key(made.code), address: form.address(key(made.code), made.code) };
  expect(await statusOf(sentOf(theirs.address), theirs.phone)).toBe(200);
  // The link that counts him, whoever made it.
  const link = (await holderOf(theirs.key))?.installCode ?? made.code;
  expect((await linkOf(link))?.deviceCount).toBe(1);
  return { ...theirs, link };
}

/** A thief whose phone has a slot on the link of his own code. */
async function thief() {
  const made = await customer(() => null);
  await call(at.app, '/install', null, {
    id: hostHash(HOST),
    installid: made.code,
    hwid: made.phone,
  });
  expect((await linkOf(made.code))?.deviceCount).toBe(1);
  return made;
}

/** The address of the neighbour with a code of the thief's choice. */
function withCode(address: string, code: string): string {
  const [path = '', query] = sentOf(address).split('?');
  const fields = new URLSearchParams(query);
  for (const name of ['installid', 'InstallID']) fields.delete(name);
  fields.set('InstallID', code);
  return `${path}?${fields}`;
}

/** Tries all states at once, so that 25 tests take seconds; each has customers of its own. */
async function ofEach<T, R>(all: readonly T[], tried: (one: T) => Promise<R>) {
  return await Promise.all(all.map(async (one) => ({ one, ...(await tried(one)) })));
}

const PAIRS = ALL.flatMap((own) => ALL.map((theirs) => ({ own, theirs })));

describe.each(BOT_FORMS)('$form', (form) => {
  const hasKeys = form.upstream.keyPaths?.length !== 0;

  beforeAll(async () => {
    at = await startFronted(undefined, { defaultLimit: 2, ...form.upstream });
  });
  afterAll(() => at.stop());

  describe.each(hasKeys ? [true, false] : [false])('with the key of the patch: %p', (isPatched) => {
    test('his own code, at each state of his link and of the other', async () => {
      const got = await ofEach(PAIRS, async ({ own, theirs }) => {
        const [a, b] = [await thief(), await neighbour(form, isPatched)];
        await STATES[theirs](b.link);
        await STATES[own](a.code);
        const before = (await holderOf(b.key))?.id;
        const status = await statusOf(withCode(b.address, a.code), a.phone);
        return {
          status,
          keepsKey: (await holderOf(b.key))?.id === before,
          getsKey: (await linkOf(a.code))?.hasSubscriptionKey ?? false,
          neighbour: await statusOf(sentOf(b.address), b.phone),
        };
      });
      const expected = await ofEach(PAIRS, async ({ own, theirs }) => {
        // The link of the key decides; where it ended, or the address has no key, that of his code.
        const byOwn = serves(own) && (theirs === 'ended' || !hasKeys);
        const status = byOwn || (hasKeys && theirs === 'active') ? 200 : 404;
        const theirStatus = serves(theirs) ? 200 : 404;
        return { status, keepsKey: true, getsKey: false, neighbour: theirStatus };
      });
      expect(got).toEqual(expected);
    });

    test('the whole address of the other, at each state of his link', async () => {
      const got = await ofEach(ALL, async (theirs) => {
        const [a, b] = [await thief(), await neighbour(form, isPatched)];
        await STATES[theirs](b.link);
        const before = (await holderOf(b.key))?.id;
        const status: number[] = [];
        for (const hwid of [a.phone, `${a.phone}-2`]) {
          status.push(await statusOf(sentOf(b.address), hwid));
        }
        const neighbourStatus = await statusOf(sentOf(b.address), b.phone);
        const keepsKey = (await holderOf(b.key))?.id === before;
        return { status, keepsKey, neighbour: neighbourStatus };
      });
      // As many as the neighbour bought, himself among them; and he keeps what he has.
      const expected = await ofEach(ALL, async (theirs) => ({
        status: [theirs === 'active' ? 200 : 404, 404],
        keepsKey: true,
        neighbour: serves(theirs) ? 200 : 404,
      }));
      expect(got).toEqual(expected);
    });
  });
});
