/** Phones that send one HWID: `link phones`, `show`, `list --copied`, `ignore-copies`, `forget`. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/load.ts';
import { HOUR_MS } from '../../src/core/calendar.ts';
import { tidyFacts } from '../../src/core/device.ts';
import { hwidOfHash } from '../../src/core/formats.ts';
import { hwidHash } from '../../src/core/secret.ts';
import { checkHwidCopies } from '../../src/doctor/copies.ts';
import { storeKindOf } from '../../src/parts/open-core.ts';
import { CODE, FACTS, HASH, NOW_MS } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink } from '../support/links.ts';

let line: CommandLine;
beforeEach(async () => {
  line = commandLine({ answers: [] });
  await makeLink(line.dataDir, async ({ store }, { installId, providerId }) => {
    await store.updateLink(providerId, installId, { installLimit: 5 }, ACT);
    const phones = ['Android', 'iOS', 'Android', 'iOS'].entries();
    for (const [n, os] of phones) {
      const facts = { ...FACTS, os, userAgent: 'Happ/3.2.1' };
      const nowMs = NOW_MS + n * HOUR_MS;
      const door = 'subscription' as const;
      const sight = { door, facts, isShared: false, isUnproved: false, nowMs };
      const key = { installCode: CODE, domainHash: HASH, hwid: 'x', sight };
      await store.takeSlot({ ...key, reported: facts }, tidyFacts(facts), nowMs);
    }
    const other = { installCode: CODE, domainHash: HASH, hwid: hwidOfHash(hwidHash('by-hash')) };
    await store.takeSlot(other, FACTS, NOW_MS);
    return installId;
  });
});
afterEach(() => line.close());

const link = (...words: string[]) => line.run('link', ...words);

async function json(...words: string[]) {
  const { code, stdout } = await link(...words, '--json');
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

const states = async () =>
  (await json('phones', CODE)).phones.map((one: { state: string }) => one.state);

test('phones and show have each phone with its sights, and list --copied the link', async () => {
  const { phones } = await json('phones', CODE);
  expect(phones).toMatchObject([
    { hwid: 'x', number: 1, state: 'first', system: 'android', app: 'Happ', own_hwid: null },
    { hwid: 'x', number: 2, state: 'certain', system: 'ios', app: 'Happ', own_hwid: null },
  ]);
  expect((await json('show', CODE)).phones).toEqual(phones);
  const { stdout } = await link('show', CODE);
  expect(stdout).toContain('PHONE OF');
  expect(stdout).toContain('another phone');
  const listed = await json('list', '--copied');
  expect(listed.map((one: { install_code: string }) => one.install_code)).toEqual([CODE]);
});

test('ignore-copies takes them for one person, once', async () => {
  const first = await link('ignore-copies', CODE, 'x');
  expect([first.code, first.stdout]).toEqual([0, `the phones of x on ${CODE} are one person's\n`]);
  expect(await states()).toEqual(['first', 'ignored']);
  expect(await json('list', '--copied')).toEqual([]);
  expect((await json('ignore-copies', CODE, 'x')).ignored).toBe(false);
});

test('forget takes the phones, and a slot that is held by the hash', async () => {
  expect((await line.run('forget', 'x', '--yes')).code).toBe(0);
  expect((await link('phones', CODE)).stdout).toBe(`Each HWID of ${CODE} has one phone.\n`);
  const forgotten = await line.run('forget', 'by-hash', '--yes');
  expect([forgotten.code, forgotten.stdout]).toEqual([
    0,
    'by-hash forgotten; its slots are free\n',
  ]);
  expect((await json('show', CODE)).slots).toEqual([]);
});

test('the doctor reports how many links count several phones as one', async () => {
  const { config } = loadConfig({ dataDir: line.dataDir }, { GATEPOST_CONFIG: 'none' });
  const survey = async () => (await storeKindOf(config).survey(line.dataDir, () => [])).copies;
  expect(await survey()).toEqual({ linkCount: 1, ruleCount: 0 });
  const [finding] = checkHwidCopies({ privacyKeep: 'usual' }, await survey());
  expect(finding).toMatchObject({ level: 'ok' });
  expect(finding?.what).toStartWith('1 link counts several phones as one device');
  expect(JSON.stringify(finding)).not.toContain(CODE);
  await link('set', CODE, '--copied-hwid', 'refuse');
  expect(await survey()).toEqual({ linkCount: 0, ruleCount: 1 });
  const [less] = checkHwidCopies({ privacyKeep: 'less' }, await survey());
  expect(less).toMatchObject({ level: 'warning', name: 'copied_hwid_without_phones' });
});
