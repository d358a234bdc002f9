/** The doctor at bots: links that no device uses, because the proxy made others. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/load.ts';
import { addBot, countBotFetch, FETCHES_MAX } from '../../src/core/bot.ts';
import { utcDay } from '../../src/core/calendar.ts';
import { checkBotFetches, checkUnusedLinks } from '../../src/doctor/bots.ts';
import { storeKindOf } from '../../src/parts/open-core.ts';
import { call } from '../support/app.ts';
import { type Fronted, HOST, startFronted } from '../support/upstream.ts';

let at: Fronted;
beforeEach(async () => {
  at = await startFronted();
});
afterEach(() => at.stop());

/** Surveys the database as the doctor does. */
async function survey() {
  const { dataDir, databaseUrl } = at.app.place;
  const env = {
    GATEPOST_CONFIG: 'none',
    ...(databaseUrl && { GATEPOST_DATABASE_URL: databaseUrl }),
  };
  const { config } = loadConfig({ dataDir }, env);
  const hosts = [{ host: HOST, provider: at.own.code }];
  return storeKindOf(config).survey(dataDir, () => hosts);
}
const unused = async () => (await survey()).unused;

const sells = async (install_code: string, more: Record<string, string> = {}) => {
  const query = { install_limit: 3, install_code, ...more };
  const { json } = await call(at.app, '/api/add-install', at.own, query);
  expect(json.rc).toBe(1);
};
const fetches = async (target: string, hwid: string) =>
  expect((await at.get(target, hwid)).status).toBe(200);

test("a bot's links that stay empty beside links of the gate are a warning", async () => {
  expect(await unused()).toEqual([]);
  await sells('LinkOfAnna01');
  // What the address of the bot is on the way: a fragment reaches no server.
  await fetches('/sub/key-of-anna-0001', 'phone-1');
  const [found] = await unused();
  const counts = { madeCount: 1, emptyCount: 1, usedCount: 0 };
  expect(found).toEqual({ host: HOST, code: at.own.code, ...counts });
  const [finding] = checkUnusedLinks(await unused());
  expect(finding).toMatchObject({ name: 'bot_links_unused', level: 'warning', subject: HOST });
  expect(finding?.what).toBe(
    `your bot's links are not used: 1 link of provider ${at.own.code} without a subscription key has no device, and the gate made 1 link at ${HOST} by itself later`,
  );
});

test('links whose key the bot gives are used, and are no warning', async () => {
  await sells('LinkOfAnna01', { subscription_key: 'key-of-anna-0001' });
  await sells('LinkOfBoris1', { subscription_key: 'key-of-boris-001' });
  await fetches('/sub/key-of-anna-0001', 'phone-1');
  await fetches('/sub/key-of-clara-001', 'phone-2');
  expect(checkUnusedLinks(await unused())).toEqual([]);
});

test('links that their codes open are used; one whose customer has not come is no warning', async () => {
  for (const code of ['LinkOfAnna01', 'LinkOfBoris1', 'LinkOfClara1']) await sells(code);
  await fetches('/sub/key-of-anna-0001?installid=LinkOfAnna01', 'phone-1');
  await fetches('/sub/key-of-boris-001?installid=LinkOfBoris1', 'phone-2');
  expect(await unused()).toEqual([]);
  await fetches('/sub/key-of-dora-0001', 'phone-3');
  expect((await unused())[0]).toMatchObject({ emptyCount: 1, usedCount: 2 });
  expect(checkUnusedLinks(await unused())).toEqual([]);
});

test('links that were made after those of the gate are no sign', async () => {
  await fetches('/sub/key-of-anna-0001', 'phone-1');
  await sells('LinkOfBoris1');
  expect(checkUnusedLinks(await unused())).toEqual([]);
});

test('the fetches of a trusted bot are counted, and said where they are used up', async () => {
  const { core, clock } = at.app;
  const provider = await core.store.findProvider(at.own.code);
  if (provider === null) throw new Error('not there');
  const made = await addBot(core, provider, { host: HOST, name: 'shop bot' }, clock.nowMs());
  if (!('id' in made)) throw new Error('not added');
  expect((await survey()).botFetches).toEqual([]);
  const fetched = (key: string) =>
    countBotFetch(core, made.id, { key: { key }, code: null }, clock.nowMs());
  for (const key of ['a', 'a', 'b']) expect(await fetched(key)).toBe(true);
  const of = { host: HOST, name: 'shop bot', code: at.own.code, day: utcDay(clock.nowMs()) };
  const { botFetches } = await survey();
  expect(botFetches).toEqual([{ ...of, keyCount: 2, fetchCount: 3, usedUpCount: 0 }]);
  expect(checkBotFetches(botFetches)).toMatchObject([
    {
      level: 'ok',
      what: `bot 'shop bot' of provider ${at.own.code} fetched 2 keys at ${HOST} without a HWID on 2026-11-20: 3 answers`,
    },
  ]);
  for (let n = 2; n < FETCHES_MAX; n++) await fetched('a');
  expect(await fetched('a')).toBe(false);
  const [finding] = checkBotFetches((await survey()).botFetches);
  expect(finding).toMatchObject({ level: 'warning', name: 'bot_fetches_used_up' });
  expect(finding?.what).toEndWith('25 answers; 1 key as often as it may');
});
