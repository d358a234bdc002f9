/**
 * The forms of addresses that bots hand out, with the calls that they make: the link that counts
 * the phones of a customer, with the patch of docs/bots.md and without it.
 */

import { afterEach, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { call } from '../support/app.ts';
import { BOT_FORMS, type BotForm, sentOf } from '../support/bot-forms.ts';
import { type Fronted, HOST, keyPath, startFronted } from '../support/upstream.ts';

const CODE = 'LinkOfAnna01';
const KEY = 'key-of-anna-0001';
const OTHER = 'key-of-boris-001';
const PHONES = ['one', 'two', 'three', 'four'];
/** What the gate gives to a link that it makes itself. */
const DEFAULT_LIMIT = 2;

let at: Fronted;
afterEach(() => at.stop());

/** Makes a link as a bot does; returns its code. `rc` 2 names the link that has the key. */
async function sells(more: Record<string, string>): Promise<string> {
  const query = { install_limit: 3, note: 'anna', ...more };
  const { json, headers } = await call(at.app, '/api/add-install', at.own, query);
  if (json.rc === 1) return json.install_code;
  const id = headers.get('x-install-id') ?? '';
  return (await call(at.app, '/api/list-install', at.own, { id })).json.data[0].install_code;
}

/** The calls of the bot until the customer has the address. */
async function handsOut(bot: BotForm, key?: string): Promise<string> {
  const more = {
    ...(bot.code === 'named' && { install_code: CODE }),
    ...(key !== undefined && { subscription_key: key }),
  };
  const code = await sells(more);
  return bot.address(KEY, bot.code === 'drawn at each view' ? await sells(more) : code);
}

const start = (upstream: BotForm['upstream']) =>
  startFronted(undefined, { defaultLimit: DEFAULT_LIMIT, ...upstream });
const fetches = async (address: string, hwid: string) =>
  (await at.get(sentOf(address), hwid)).status;

/** Fetches with four phones, as their app does; returns how many were served. */
async function served(bot: BotForm, address: string): Promise<number> {
  const got: number[] = [];
  for (const hwid of PHONES) {
    if (bot.asks === true) {
      await call(at.app, '/install', null, { id: hostHash(HOST), installid: CODE, hwid });
    }
    got.push(await fetches(address, hwid));
  }
  expect(got).toEqual(got.map((_, n) => (n < got.filter((is) => is === 200).length ? 200 : 404)));
  return got.filter((status) => status === 200).length;
}

/** The links that have devices, and whether the bot made them. */
const counting = async () =>
  (await at.links())
    .filter(({ count }) => count > 0)
    .map(({ count, limit, note }) => ({ count, limit, by: note === 'anna' ? 'bot' : 'gate' }));

test.each(BOT_FORMS.filter(({ upstream }) => upstream.keyPaths?.length !== 0))(
  '$form, with the key of the patch: the link that was paid counts',
  async (bot) => {
    at = await start(bot.upstream);
    const address = await handsOut(bot, bot.isKey ? CODE : KEY);
    expect(await served(bot, address)).toBe(3);
    // One link, however often the bot asked, also for an address without the code.
    expect(await at.links()).toEqual([{ count: 3, limit: 3, note: 'anna' }]);
    expect(await fetches(address.split(/[?#]/, 1)[0] ?? '', 'four')).toBe(404);
    expect(await fetches(address, 'one')).toBe(200);
  },
);

test.each(BOT_FORMS)('$form, as the bot is: the link of its row counts', async (bot) => {
  at = await start(bot.upstream);
  const address = await handsOut(bot);
  const isPaid = bot.counts === 'paid';
  expect(await served(bot, address)).toBe(isPaid ? 3 : DEFAULT_LIMIT);
  const paid = { count: 3, limit: 3, by: 'bot' };
  const made = { count: DEFAULT_LIMIT, limit: DEFAULT_LIMIT, by: 'gate' };
  // The app that asked about the code took slots there too: the customer has both limits.
  const both = bot.asks === true ? [paid] : [];
  expect(await counting()).toEqual(isPaid ? [paid] : [made, ...both]);
});

test('a code of the provider opens no other key than that of its link', async () => {
  at = await start({ keyPaths: [keyPath('/sub/{key}')] });
  await sells({ install_code: CODE, subscription_key: KEY });
  await sells({ install_limit: '1', subscription_key: OTHER, note: 'boris' });
  expect(await fetches(`/sub/${OTHER}?installid=${CODE}`, 'one')).toBe(200);
  expect(await fetches(`/sub/${OTHER}?installid=${CODE}`, 'two')).toBe(404);
  const links = [...(await at.links())].sort((a, b) => a.note.localeCompare(b.note));
  expect(links).toEqual([
    { count: 0, limit: 3, note: 'anna' },
    { count: 1, limit: 1, note: 'boris' },
  ]);
});

test('one URL for all customers: the code alone names the link', async () => {
  at = await start({ keyPaths: [] });
  await sells({ install_code: CODE });
  await sells({ install_limit: '1', install_code: 'LinkOfBoris1', note: 'boris' });
  const address = (code: string) => `/all?installid=${code}`;
  expect(await fetches(address(CODE), 'one')).toBe(200);
  expect(await fetches(address('LinkOfBoris1'), 'two')).toBe(200);
  expect(await fetches(address('LinkOfBoris1'), 'three')).toBe(404);
  expect(await fetches('/all', 'three')).toBe(404);
  expect((await at.links()).map(({ count }) => count)).toEqual([1, 1]);
});
