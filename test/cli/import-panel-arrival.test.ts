/** `gatepost import --panel`: devices that the panel knows have their places until they come. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOUR_MS } from '../../src/core/calendar.ts';
import type { SlotKey } from '../../src/core/port/slot.ts';
import type { Store } from '../../src/core/port/store.ts';
import { isAdmitted, judge } from '../../src/core/slot.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { bind, HASH, heard, NOW_MS } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { freshFolder } from '../support/app.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { pgDump } from '../support/panel-tables.ts';
import { makeUser, tablesOf } from '../support/panel-world.ts';

let line: CommandLine;
let file: string;
let store: Store | null = null;
beforeEach(async () => {
  line = commandLine();
  file = join(freshFolder(), 'panel');
  await line.run('provider', 'add', '--name', 'shop', '--code', 'MYSHOP01');
});
afterEach(async () => {
  await store?.close();
  store = null;
  line.close();
});

test('devices of a panel are named, come, and are first phones by what the panel knew', async () => {
  const user = { ...makeUser(2), limit: 5, isDisabled: false };
  const hwids = user.devices.map(({ hwid }) => hwid);
  expect(hwids.length).toBeGreaterThan(1);
  writeFileSync(file, pgDump(tablesOf.remnawave([user])));
  const brought = await line.run('import', file, '--panel', 'remnawave', '--code', 'MYSHOP01');
  expect(brought.code).toBe(0);
  store = await openSqliteStore({ dataDir: line.dataDir, create: false, commitBatchMax: 64 });
  const provider = await store.findProvider('MYSHOP01');
  const providerId = provider?.id ?? 0;
  await bind(store, providerId);
  const [link] = await store.listLinksOf(providerId, { id: null, beforeId: null, countMax: 1 });
  if (link === undefined) throw new Error('no link was imported');
  const { id: installId, installCode } = link;
  const here = store;
  const shown = async () => {
    const slots = await here.listSlots(providerId, { installCode, installId: null }, null, 100);
    if (typeof slots === 'string') throw new Error(slots);
    return slots.map(({ hwid, isNamed }) => (isNamed ? `${hwid}?` : hwid)).sort();
  };
  expect(await shown()).toEqual(hwids.map((hwid) => `${hwid}?`).sort());
  // None of them is a device yet.
  for (const hwid of hwids) expect(await here.findDevice(hwid)).toBeNull();
  await here.updateLink(providerId, installId, { copiedHwid: 'refuse', whenNew: 'refuse' }, ACT);

  const [own = '', other = ''] = hwids;
  const door = await here.findSlot({ installCode, domainHash: HASH, hwid: own });
  if (typeof door === 'string' || door.device === null) throw new Error('it is not named');
  const { os, osVersion, deviceName, appVersion, userAgent } = door.device;
  const phone = { os, osVersion, deviceName, appVersion, userAgent };
  expect(`${os}${deviceName}`).not.toBe('');
  const copy = { ...phone, os: os === 'ios' ? 'android' : 'ios', deviceName: 'Copy 1' };
  const ask = async (hwid: string, facts: typeof phone, nowMs: number) => {
    const sight = {
      door: 'subscription',
      facts,
      isShared: false,
      isUnproved: false,
      nowMs,
    } as const;
    const key: SlotKey = { installCode, domainHash: HASH, hwid, reported: facts, sight };
    const at = await here.findSlot(key);
    if (typeof at === 'string') return at;
    const verdict = judge(at, nowMs);
    if (!isAdmitted(verdict)) return verdict;
    const taken = heard(await here.takeSlot(key, facts, nowMs));
    return typeof taken === 'string' ? taken : 'ok';
  };
  expect(await ask('stranger', phone, NOW_MS)).toBe('not_named');
  for (let n = 0; n < 3; n++) {
    expect(await ask(own, phone, NOW_MS + 2 * n * HOUR_MS)).toBe('ok');
    const answer = await ask(own, copy, NOW_MS + (2 * n + 1) * HOUR_MS);
    if (n === 2) expect(answer).toBe('copied_hwid');
  }
  expect(await shown()).toEqual([own, ...hwids.slice(1).map((hwid) => `${hwid}?`)].sort());
  expect((await here.findDevice(own))?.installs).toHaveLength(1);
  expect(await here.findDevice(other)).toBeNull();
  expect(await ask(other, phone, NOW_MS + 9 * HOUR_MS)).toBe('ok');

  // Imported again, the panel's devices are where they are.
  const before = await shown();
  await here.close();
  store = null;
  await line.run('import', file, '--panel', 'remnawave', '--code', 'MYSHOP01');
  store = await openSqliteStore({ dataDir: line.dataDir, create: false, commitBatchMax: 64 });
  const slots = await store.listSlots(providerId, { installCode, installId: null }, null, 100);
  expect(Array.isArray(slots) && slots).toHaveLength(before.length);
});
