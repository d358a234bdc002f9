/** Which refusals at a door count, for whom, and which questions count nothing. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { addDomain } from '../../src/core/domain.ts';
import { admitDevice, type DeviceCall, judgeDevice, verdictOn } from '../../src/core/door.ts';
import { lastDays, listFigures } from '../../src/core/figures.ts';
import { addLink } from '../../src/core/link.ts';
import { isRefused } from '../../src/core/outcome.ts';
import type { Figures } from '../../src/core/port/figure.ts';
import type { Provider } from '../../src/core/port/provider.ts';
import { type Engine, makeProvider, openEngine } from '../support/delivery.ts';

const BOUND = 'a'.repeat(64);
const CODE = 'LinkCode0001';
const KEY = 'subscription-key';
const FACTS = { os: '', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };

let engine: Engine;
let provider: Provider;
beforeEach(async () => {
  engine = await openEngine();
  const nowMs = engine.clock.nowMs();
  provider = await makeProvider(engine);
  await addDomain(engine.core, provider, BOUND, null, nowMs);
  const terms = { installLimit: 1, note: null };
  const draft = { ...terms, installCode: CODE, subscriptionKey: KEY };
  const added = await addLink(engine.core, provider, draft, nowMs);
  if (isRefused(added)) throw new Error(added.says);
  // From here on each call is alone.
  await admit({});
});
afterEach(() => engine.close());

const callOf = (more: Partial<DeviceCall>): DeviceCall => ({
  installCode: CODE,
  domainHash: BOUND,
  hwid: 'first',
  ...more,
});

const admit = async (more: Partial<DeviceCall>) =>
  admitDevice(engine.core, callOf(more), FACTS, engine.clock.nowMs());

/** The refusals that were counted, and those of the link. */
async function counted(): Promise<{ figures: Partial<Figures>; ofLink: number }> {
  const { store } = engine.core;
  await store.saveFigures();
  const { fromDay, toDay } = lastDays(1, engine.clock.nowMs());
  const [found] = await listFigures(engine.core, provider.id, fromDay, toDay);
  const refused = Object.entries(found ?? {}).filter(
    ([name, count]) => name.startsWith('refused') && count !== 0,
  );
  const [link] = await store.listRefusals(provider.id, 0, 9);
  return { figures: Object.fromEntries(refused), ofLink: link?.refusedCount ?? 0 };
}

const byKey = { installCode: null, subscriptionKey: KEY };

test.each<[string, Partial<DeviceCall>, keyof Figures | null]>([
  ['a HWID more than there is room for', { hwid: 'second' }, 'refused_full'],
  ['the same by the subscription key', { ...byKey, hwid: 'second' }, 'refused_full'],
  ['a domain that is not bound', { domainHash: 'b'.repeat(64) }, 'refused_domain'],
  ['a domain that is none', { domainHash: 'shop.example' }, 'refused_domain'],
  ['no domain', { domainHash: null }, 'refused_domain'],
  ['no HWID', { hwid: null }, 'refused_hwid'],
  ['no HWID, by the subscription key', { ...byKey, hwid: null }, 'refused_hwid'],
  ['a HWID that is none', { hwid: 'a,b' }, 'refused_hwid'],
  ['neither HWID nor domain', { hwid: null, domainHash: null }, 'refused_hwid'],
  ['no HWID at a link that is not there', { installCode: 'NoLink000000', hwid: null }, null],
  ['a link that is not there', { installCode: 'NoLink000000' }, null],
  ['a code that is none', { installCode: '../x' }, null],
  ['a key that no link has', { ...byKey, subscriptionKey: 'another-key' }, null],
  ['a known HWID', {}, null],
])('%s', async (_, more, figure) => {
  const answer = await admit(more);
  expect(isRefused(answer)).toBe(Object.keys(more).length > 0);
  expect(await counted()).toEqual({
    figures: figure === null ? {} : { [figure]: 1 },
    ofLink: figure === null ? 0 : 1,
  });
});

test('a judgement that refuses for good counts, one that only explains does not', async () => {
  const call = callOf({ hwid: 'second' });
  expect(await verdictOn(engine.core, call, engine.clock.nowMs())).toMatchObject({
    verdict: 'link_limit_reached',
  });
  expect((await counted()).figures).toEqual({});
  await judgeDevice(engine.core, call, engine.clock.nowMs());
  await judgeDevice(engine.core, callOf({ hwid: null }), engine.clock.nowMs());
  expect(await counted()).toEqual({ figures: { refused_full: 1, refused_hwid: 1 }, ofLink: 2 });
});
