/**
 * The number of a provider's devices by system and app. A small number is counted on request. A
 * large one is counted once a day, in slices that do not delay other calls.
 */

import { appNameOf } from './app/find.ts';
import { utcDay } from './calendar.ts';
import type { Core } from './core.ts';
import type { DeviceMix, MixCount, MixCursor, MixDevice } from './port/device-mix.ts';
import { nextTurn } from './turn.ts';

/** Devices of one read: about 2 ms. */
const SLICE = 2_000;
/** The most systems and apps that are counted separately: a device can report any system. */
const KINDS_MAX = 60;

/** Sums devices by system and app; rare systems count under `''`. */
class Sums {
  readonly #counts = new Map<string, MixCount>();

  add(devices: readonly MixDevice[]): void {
    for (const { os, userAgent } of devices) {
      const app = appNameOf(userAgent) ?? '';
      const isKnown = this.#counts.has(`${os} ${app}`) || this.#counts.size < KINDS_MAX;
      const of = isKnown ? { os, app } : { os: '', app: '' };
      const key = `${of.os} ${of.app}`;
      const sum = this.#counts.get(key) ?? { ...of, count: 0 };
      sum.count += 1;
      this.#counts.set(key, sum);
    }
  }

  get counts(): MixCount[] {
    return [...this.#counts.values()].sort((one, other) => other.count - one.count);
  }
}

/**
 * Returns the devices of a provider by system and app; null: there are many, and they are not
 * counted yet.
 */
export async function readMix(
  { store }: Core,
  providerId: number,
  nowMs: number,
): Promise<DeviceMix | null> {
  const known = await store.readDeviceMix(providerId);
  if (known !== null) return known;
  const devices = await store.listMixDevices(providerId, null, SLICE);
  if (devices.length === SLICE) return null;
  const sums = new Sums();
  sums.add(devices);
  return { day: utcDay(nowMs), counts: sums.counts };
}

/** Counts the devices of each provider with many devices, unless they were counted today. */
export async function countMixes(core: Core, nowMs: number, signal: AbortSignal): Promise<void> {
  const day = utcDay(nowMs);
  for (const { id } of await core.store.listProviders()) {
    if (signal.aborted) return;
    if ((await core.store.readDeviceMix(id))?.day === day) continue;
    await countMix(core, id, day, signal);
  }
}

async function countMix(
  { store }: Core,
  providerId: number,
  day: number,
  signal: AbortSignal,
): Promise<void> {
  const sums = new Sums();
  let after: MixCursor | null = null;
  for (let slices = 0; ; slices++) {
    const devices: MixDevice[] = await store.listMixDevices(providerId, after, SLICE);
    sums.add(devices);
    const last = devices.at(-1);
    if (last === undefined || devices.length < SLICE) {
      // A small number is counted on request.
      const counts = slices === 0 ? [] : sums.counts;
      return store.saveDeviceMix(providerId, { day, counts });
    }
    if (signal.aborted) return;
    after = { os: last.os, deviceId: last.deviceId };
    await nextTurn();
  }
}
