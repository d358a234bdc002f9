/** Keys of subscriptions and links: `link ties`, `tie`, `untie`, `import` and `set --key`. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { addLink, FACTS, HASH, knock, linkDraft } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink, openData } from '../support/links.ts';

const BOT = 'BotLink00001';
const MADE = 'MadeByGate01';

let line: CommandLine;
let answers: (string | null)[];
let providerId: number;
beforeEach(async () => {
  answers = [];
  line = commandLine({ answers });
  await makeLink(line.dataDir, async ({ store }, at) => {
    providerId = at.providerId;
    await addLink(store, providerId, { installCode: BOT, installLimit: 2 });
    await knock(store, 'a', BOT);
    const subscriptionKeyHashOf = subscriptionKeyHash('panel-key');
    const draft = linkDraft(providerId, {
      installCode: MADE,
      subscriptionKeyHash: subscriptionKeyHashOf,
      installLimit: 5,
    });
    const name = { subscriptionKeyHash: subscriptionKeyHashOf, providerCode: 'Provide1' };
    for (const hwid of ['b', 'c']) {
      await store.addLinkWithSlot(draft, { ...name, domainHash: HASH, hwid }, FACTS, ACT);
    }
    const fetch = { providerId, keyHash: subscriptionKeyHashOf, installCode: BOT, hwid: 'b' };
    await store.tieByFetch(fetch, ACT);
    return at.installId;
  });
});
afterEach(() => line.close());

const link = (...words: string[]) => line.run('link', ...words);

async function json(...words: string[]) {
  const { code, stdout } = await link(...words, '--json');
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

async function linksNow(): Promise<string[]> {
  const { store } = await openData(line.dataDir);
  const filter = { providerCode: 'Provide1', isFull: false, status: null, countMax: 100 };
  const links = await store.listLinks(filter);
  await store.close();
  return links
    .map((one) => `${one.installCode} ${one.deviceCount}${one.hasSubscriptionKey ? ' key' : ''}`)
    .filter((one) => one.startsWith(BOT) || one.startsWith(MADE))
    .sort();
}

test('ties shows what would change before it switches', async () => {
  expect(await json('ties')).toMatchObject({
    ties: 'on',
    state: 'waits',
    rows: [{ moved: 1, left_out: 1 }],
  });
  answers.push('no');
  const refused = await link('ties', '--off');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('1 phone left out')]);
  expect((await json('ties')).ties).toBe('on');
  const { stdout } = await link('ties', '--off', '--yes');
  expect(stdout).toContain('Ties by fetches are off for Provide1.');
  expect((await json('ties')).ties).toBe('off');
  expect((await json('ties', '--on', '--yes')).ties).toBe('on');
});

test('tie moves the devices, untie gives the link back', async () => {
  const [{ id }] = (await json('ties')).rows;
  expect((await link('tie', '--all', '--yes')).stdout).toContain('1 tie made');
  expect(await linksNow()).toEqual([`${BOT} 2 key`]);
  expect((await json('ties', '--tied')).rows).toMatchObject([{ id, moved: 1, left_out: 1 }]);
  expect((await link('untie', '--since', '1h', '--yes')).stdout).toContain('1 tie undone');
  expect(await linksNow()).toEqual([`${BOT} 1`, `${MADE} 2 key`]);
  const again = await link('untie', `${id}`, '--yes');
  expect([again.code, again.stdout]).toEqual([1, expect.stringContaining('there is no such tie')]);
  const both = await link('tie', `${id}`, '--all');
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('give ids or --all')]);
});

test('set --key joins the link that Gatepost made for the key', async () => {
  expect((await link('set', BOT, '--key', 'panel-key')).code).toBe(0);
  expect(await linksNow()).toEqual([`${BOT} 2 key`]);
});

test('set --key of another link is refused, as before', async () => {
  await link('add', '--code', 'OtherLink001', '--key', 'other-key');
  const refused = await link('set', BOT, '--key', 'other-key');
  expect(refused.code).toBe(1);
  expect(await linksNow()).toEqual([`${BOT} 1`, `${MADE} 2 key`]);
});

test('import gives keys to links that exist, and joins what Gatepost made', async () => {
  const file = join(line.dataDir, 'keys.csv');
  const rows = [`${BOT},panel-key`, 'NewLink00001,new-key', 'LinkCode0001,plain-key'];
  writeFileSync(file, `code,key\n${rows.join('\n')}\n`);
  const checked = await json('import', file, '--check');
  expect(checked).toMatchObject({ added: 1, keyed: 2, skipped: 0 });
  expect(await linksNow()).toEqual([`${BOT} 1`, `${MADE} 2 key`]);
  const done = await json('import', file);
  expect(done).toMatchObject({ added: 1, keyed: 2, skipped: 0 });
  expect(done.links[0]).toMatchObject({ done: 'keyed', moved: 1, left_out: 1 });
  expect(await linksNow()).toEqual([`${BOT} 2 key`]);
  // Again nothing changes.
  expect(await json('import', file)).toMatchObject({ added: 0, keyed: 0, skipped: 3 });
});

test('import of a new code for the key of a made link joins them', async () => {
  const file = join(line.dataDir, 'keys.csv');
  writeFileSync(file, 'code,key,limit\nBotLink00009,panel-key,4\n');
  expect(await json('import', file)).toMatchObject({ added: 0, keyed: 1 });
  expect(await linksNow()).toEqual([`${BOT} 1`]);
});
