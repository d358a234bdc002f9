/**
 * Devices that links refused, collected in memory like figures: for each link the latest few by
 * HWID, however many HWIDs callers invent.
 */

import type { KnownLink, RefusalReason, RefusedDevice } from './port/figure.ts';

/** The most refused devices of a link; the earliest are dropped. */
export const REFUSED_PER_LINK = 20;
/** The most refused devices in memory; beyond it those of further links are not recorded. */
const GATHERED_MAX = 10_000;
/** Unsaved refusals of a device by a link. */
export interface GatheredDevice extends RefusedDevice, KnownLink {
  count: number;
  firstAtMs: number;
  lastAtMs: number;
  /** The reason of the last refusal. */
  reason: RefusalReason;
}

export class GatheredDevices {
  /** By link and HWID, with the latest of a link last. */
  readonly #links = new Map<number, Map<string, GatheredDevice>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(link: KnownLink, device: RefusedDevice, reason: RefusalReason, atMs: number): void {
    const { installId, providerId } = link;
    const times = { firstAtMs: atMs, lastAtMs: atMs };
    this.putBack([{ ...device, ...times, installId, providerId, count: 1, reason }]);
  }

  /** Adds devices again that could not be saved. */
  putBack(devices: readonly GatheredDevice[]): void {
    for (const added of devices) {
      const { installId, hwid } = added;
      const ofLink = this.#links.get(installId) ?? new Map<string, GatheredDevice>();
      const known = ofLink.get(hwid);
      if (known === undefined && this.#size >= GATHERED_MAX && ofLink.size === 0) continue;
      this.#links.set(installId, ofLink);
      ofLink.delete(hwid);
      ofLink.set(hwid, known === undefined ? added : merged(known, added));
      if (known === undefined) this.#size += 1;
      const [first] = ofLink.keys();
      if (ofLink.size > REFUSED_PER_LINK && first !== undefined && ofLink.delete(first)) {
        this.#size -= 1;
      }
    }
  }

  /** Takes at most `countMax` devices out. */
  take(countMax: number): GatheredDevice[] {
    const taken: GatheredDevice[] = [];
    for (const [installId, ofLink] of this.#links) {
      for (const [hwid, device] of ofLink) {
        if (taken.length >= countMax) break;
        taken.push(device);
        ofLink.delete(hwid);
      }
      if (ofLink.size > 0) break;
      this.#links.delete(installId);
    }
    this.#size -= taken.length;
    return taken;
  }
}

function merged(known: GatheredDevice, added: GatheredDevice): GatheredDevice {
  const [older, later] = added.lastAtMs >= known.lastAtMs ? [known, added] : [added, known];
  return {
    ...later,
    deviceName: later.deviceName || older.deviceName,
    os: later.os || older.os,
    count: known.count + added.count,
    firstAtMs: Math.min(known.firstAtMs, added.firstAtMs),
  };
}
