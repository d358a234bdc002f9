/** The rule that tells phones of one HWID apart, sentence by sentence. */

import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../src/core/calendar.ts';
import {
  type Judged,
  judgeSighting,
  NEW_PHONES_PER_DAY,
  PHONES_MAX,
  type Sighting,
} from '../../src/core/phones.ts';
import type { Phone } from '../../src/core/port/phone.ts';

const START_MS = Date.UTC(2026, 10, 20, 8);

const of = (family: string, app: string, model: string, version = '1'): Sighting => ({
  door: 'subscription',
  family,
  app,
  version,
  modelHash: model,
});
const S23 = of('android', 'Happ', 'S23');
const PIXEL = of('android', 'Happ', 'Pixel');
const IPHONE = of('ios', 'Happ', 'i:iPhone15,2');
const at = (door: Sighting['door'], seen: Sighting): Sighting => ({ ...seen, door });

/** A slot as a store keeps it: rows, and the facts of the last call. */
class Slot {
  rows = new Map<number, Phone>();
  before: Sighting | null;
  lastSeenAtMs = START_MS;
  nowMs = START_MS;
  saved = 0;

  constructor(first: Sighting | null) {
    this.before = first;
  }

  sees(seen: Sighting, afterMs = HOUR_MS): Judged {
    this.nowMs += afterMs;
    const slot = {
      phones: [...this.rows.values()],
      before: this.before,
      lastSeenAtMs: this.lastSeenAtMs,
    };
    const judged = judgeSighting(slot, seen, this.nowMs);
    for (const number of judged.drops) this.rows.delete(number);
    for (const phone of judged.saves) this.rows.set(phone.number, phone);
    this.saved += judged.saves.length;
    this.before = seen;
    this.lastSeenAtMs = this.nowMs;
    return judged;
  }

  get states(): string {
    return [...this.rows.values()].map(({ state }) => state).join(' ');
  }

  get certain(): number {
    return [...this.rows.values()].filter(({ state }) => state === 'certain').length;
  }
}

const after = (first: Sighting | null, ...calls: Sighting[]) => {
  const slot = new Slot(first);
  for (const seen of calls) slot.sees(seen);
  return slot;
};

test('another model in the same app is certain once the older one comes again', () => {
  const slot = after(S23, PIXEL);
  expect(slot.states).toBe('first pending');
  const back = slot.sees(S23);
  expect(back.phone).toMatchObject({ number: 1, state: 'first' });
  expect(back.found).toMatchObject([{ number: 2, modelHash: 'Pixel', state: 'certain' }]);
  expect(slot.states).toBe('first certain');
  expect(slot.sees(PIXEL).phone).toMatchObject({ number: 2, state: 'certain' });
});

test('another family of systems is certain once the older one comes again, in any app', () => {
  const slot = after(of('android', 'INCY', ''), of('windows', '', ''));
  expect(slot.states).toBe('first pending');
  expect(slot.sees(of('android', 'Karing', '')).found).toMatchObject([{ family: 'windows' }]);
});

test('a family that the name of the app shows is certain once both take turns', () => {
  const phone = of('android', 'v2rayNG', '');
  const computer = of('desktop', 'v2rayN', '');
  expect(after(phone, computer, phone).states).toBe('first pending');
  expect(after(phone, computer, phone, computer).states).toBe('first certain');
  // Somebody tries one name after another, until the panel answers as they want.
  const tries = new Slot(phone);
  for (const seen of [computer, phone, computer, phone, computer, phone]) tries.sees(seen, 60_000);
  tries.sees(phone);
  expect(tries.states).toBe('first pending');
  expect(after(computer, of('windows', 'Happ', ''), computer).saved).toBe(0);
});

test('five phones of one HWID are one first and four certain ones, within two calls of each', () => {
  const five = [S23, PIXEL, IPHONE, of('windows', 'FlClashX', ''), of('linux', 'Throne', '')];
  const slot = after(S23, ...five.slice(1), ...five);
  expect(slot.states).toBe('first certain certain certain certain');
  expect(slot.sees(IPHONE).found).toEqual([]);
});

test('a phone that was replaced or renamed is not two', () => {
  const slot = after(S23, PIXEL, PIXEL, PIXEL, IPHONE, IPHONE);
  expect(slot.certain).toBe(0);
  expect(slot.states).toBe('first pending pending');
});

test('another app with another model is a hint, and stays one', () => {
  const slot = after(S23, of('android', 'INCY', 'Galaxy S23'), S23);
  for (const seen of [of('android', 'INCY', 'Galaxy S23'), S23]) slot.sees(seen);
  expect(slot.states).toBe('first hint');
});

test('an app that is not known gives hints alone', () => {
  expect(
    after(of('android', '', 'S23'), of('android', '', 'Pixel'), of('android', '', 'S23')).states,
  ).toBe('first hint');
});

test('a new version of the app, and another app that says the same model, are nothing', () => {
  const slot = after(S23, { ...S23, version: '2' }, { ...S23, app: 'INCY' }, S23);
  expect(slot.saved).toBe(0);
});

test('an absent fact differs from nothing', () => {
  const slot = after(S23, of('android', 'Happ', ''), of('', 'Happ', ''), of('', '', 'S23'), S23);
  expect(slot.saved).toBe(0);
  const shared = after(S23, PIXEL, of('android', 'Happ', ''));
  expect(shared.certain).toBe(0);
});

test('a slot of which no facts were known has its first phone by the first that says any', () => {
  const slot = new Slot(of('', '', ''));
  expect(slot.sees(of('', 'Happ', ''))).toMatchObject({ isFirstWord: false, saves: [] });
  expect(slot.sees(S23)).toMatchObject({ isFirstWord: true, saves: [], phone: { number: 1 } });
  slot.sees(PIXEL);
  expect(slot.states).toBe('first pending');
});

test('facts that may be those of another link are nobody’s: the phone that calls is the first', () => {
  const slot = new Slot(null);
  expect(slot.sees(S23).saves).toMatchObject([{ number: 1, state: 'first', modelHash: 'S23' }]);
});

test('a phone that says more than the first one did is the first', () => {
  const slot = after(of('android', 'v2rayNG', ''), IPHONE, S23);
  expect(slot.rows.get(1)).toMatchObject({ app: 'Happ', modelHash: 'S23', state: 'first' });
  expect(slot.sees(PIXEL).phone).toMatchObject({ state: 'pending' });
  expect(slot.sees(S23).found).toMatchObject([{ modelHash: 'Pixel' }]);
});

test('identifiers of Apple and names of models are two spellings', () => {
  const name = of('ios', 'Happ', 'iPhone 14 Pro');
  expect(after(IPHONE, name, IPHONE, name, IPHONE).states).toBe('first hint');
  expect(after(IPHONE, of('ios', 'Happ', 'i:iPad13,4'), IPHONE).certain).toBe(1);
});

test('a router and Linux are not two systems', () => {
  expect(
    after(of('openwrt', 'PassWall', ''), of('linux', '', ''), of('openwrt', '', '')).saved,
  ).toBe(0);
  expect(after(of('openwrt', '', ''), of('android', '', ''), of('openwrt', '', '')).certain).toBe(
    1,
  );
});

test('models are compared at one door alone', () => {
  const own = at('install', S23);
  const other = of('android', 'Happ', 'SM-S918B');
  const slot = after(own, other, own, other, own, other);
  expect(slot.certain).toBe(0);
  slot.sees(PIXEL);
  expect(slot.sees(other).found).toMatchObject([{ modelHash: 'Pixel' }]);
});

test('facts from before doors were kept prove nothing until they are seen at the door', () => {
  const slot = after({ ...S23, door: '' }, PIXEL, S23);
  expect(slot.states).toBe('first pending');
  expect(slot.sees(PIXEL).found).toMatchObject([{ number: 2 }]);
});

test('models that two versions of an app report have to take turns within three days', () => {
  const old = S23;
  const spelled = of('android', 'Happ', 'Galaxy S23', '2');
  // The person went back to the old version, and weeks later to the new one.
  const honest = after(old, spelled, old);
  honest.sees(spelled, 14 * DAY_MS);
  expect(honest.certain).toBe(0);
  const shared = after(old, spelled, old);
  expect(shared.sees(spelled).found).toMatchObject([{ number: 2 }]);
});

test('a version that a call without a model left behind proves nothing', () => {
  const slot = after(S23, of('android', 'Happ', 'Galaxy S23', '2'));
  // The person went back, and the first call says no model: the slot has this version, that model.
  slot.sees(of('android', 'Happ', '', '1'));
  slot.before = of('android', 'Happ', 'Galaxy S23', '1');
  expect(slot.sees(S23).found).toEqual([]);
});

test('a call that says less than the phone proves nothing about models', () => {
  const slot = after(S23, PIXEL);
  expect(slot.sees({ ...S23, family: '' }).found).toEqual([]);
  expect(slot.sees(S23).found).toEqual([]);
});

test('another app on the phone, which has the model in its former spelling, proves nothing', () => {
  const slot = after(S23, of('android', 'Happ', 'Galaxy S23'));
  for (let day = 0; day < 9; day++)
    slot.sees(day % 2 ? of('android', 'Happ', 'Galaxy S23') : of('android', 'INCY', 'S23'));
  expect(slot.states).toBe('first pending');
});

test('a copy proves nothing about the phone by which the owner replaced the first', () => {
  const slot = after(S23, PIXEL, S23);
  const replaced = of('android', 'Happ', 'S24');
  for (const seen of [replaced, PIXEL, replaced, PIXEL, replaced]) slot.sees(seen);
  expect([...slot.rows.values()].find(({ modelHash }) => modelHash === 'S24')?.state).toBe(
    'pending',
  );
});

test('what staff ignores is not judged again, and a further one is', () => {
  const slot = after(S23, PIXEL, S23);
  for (const phone of slot.rows.values()) {
    if (phone.state !== 'first') slot.rows.set(phone.number, { ...phone, state: 'ignored' });
  }
  for (const seen of [PIXEL, S23, PIXEL]) expect(slot.sees(seen).found).toEqual([]);
  slot.sees(IPHONE);
  expect(slot.sees(PIXEL).found).toMatchObject([{ family: 'ios' }]);
});

test('a phone that was not seen for 30 days is forgotten', () => {
  const slot = after(S23, PIXEL);
  for (let day = 0; day < 29; day++) slot.sees(PIXEL, DAY_MS);
  expect(slot.states).toBe('first pending');
  slot.sees(PIXEL, DAY_MS);
  expect(slot.states).toBe('first');
  expect(slot.rows.get(2)?.modelHash).toBe('Pixel');
  const silent = after(S23, PIXEL);
  silent.sees(IPHONE, 40 * DAY_MS);
  expect(silent.states).toBe('');
});

test('a phone that calls each day is not forgotten, though its calls are not saved', () => {
  const slot = after(S23, PIXEL, S23);
  // A known device costs one read: the slot alone has the day.
  slot.nowMs += 29 * DAY_MS;
  slot.lastSeenAtMs = slot.nowMs;
  const judged = slot.sees(PIXEL, 2 * DAY_MS);
  expect(judged.drops).toEqual([2]);
  expect(judged.phone).toMatchObject({ number: 2, state: 'pending' });
  expect(slot.sees(S23).phone).toMatchObject({ number: 1, state: 'first' });
});

test('at most four new phones a day, and eight in all; junk pushes neither first nor certain out', () => {
  const slot = after(S23, PIXEL, S23);
  const junk = (number: number) => of('android', 'Happ', `junk ${number}`);
  for (let number = 0; number < 10; number++) slot.sees(junk(number), 1);
  expect(slot.rows.size).toBe(1 + NEW_PHONES_PER_DAY);
  expect(slot.sees(junk(99), 1)).toMatchObject({
    isUnsaved: true,
    saves: [],
    phone: { state: 'pending' },
  });
  for (let day = 0; day < 10; day++) {
    slot.nowMs += DAY_MS;
    for (let number = 0; number < 10; number++) slot.sees(junk(100 * day + number), 1);
  }
  expect(slot.rows.size).toBe(PHONES_MAX);
  expect(slot.rows.get(1)).toMatchObject({ modelHash: 'S23', state: 'first' });
  expect(slot.rows.get(2)).toMatchObject({ modelHash: 'Pixel', state: 'certain' });
});

test('beyond eight phones of which some are certain, one more is a copy, and is not saved', () => {
  const slot = new Slot(S23);
  for (let number = 0; number < PHONES_MAX + 2; number++) {
    slot.sees(of('android', 'Happ', `phone ${number}`), DAY_MS);
    slot.sees(S23, HOUR_MS);
  }
  expect(slot.certain).toBe(PHONES_MAX - 1);
  const { phone, saves, isUnsaved } = slot.sees(IPHONE);
  expect([phone.state, saves.length, isUnsaved]).toEqual(['certain', 0, true]);
  expect(slot.sees(of('android', 'INCY', 'Galaxy')).phone.state).toBe('hint');
});

test('known phones are saved once a day at most, but for those that are not decided', () => {
  const slot = after(S23, PIXEL, S23, PIXEL);
  slot.saved = 0;
  for (let call = 0; call < 6; call++) slot.sees(call % 2 === 0 ? S23 : PIXEL, 1);
  expect(slot.saved).toBe(0);
  slot.sees(S23, DAY_MS);
  expect(slot.saved).toBe(1);
});
