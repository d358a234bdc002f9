/** What must become of sends: who is linked, who is a recipient, what lies in which inbox. */

import type { Provider } from '../../../src/core/port/provider.ts';
import { DAY_MS } from '../../support/delivery.ts';

export const PROVIDERS = 2;
export const DEVICES = 6;
/** Of the devices, in order. */
export const OS = ['ios', 'android', 'ios', 'android', 'android', 'windows'];
const EXPIRE_MS = 30 * DAY_MS;

export interface SentModel {
  id: number;
  provider: number;
  targets: { os: string[] } | { devices: number[] };
  dueAtMs: number;
  status: number;
  /** Who was written into the ledger as a recipient that gets it. */
  got: number[];
  failed: number;
}

export class World {
  readonly onLink = new Set<string>();
  readonly bound = new Set<string>();
  readonly isBindingOff = Array.from({ length: PROVIDERS }, () => false);
  readonly forgotten = new Set<number>();
  readonly sent: SentModel[] = [];

  constructor(
    readonly providers: Provider[],
    readonly hwids: string[],
    readonly devices: number[],
    readonly bindings: number[],
  ) {}

  isLinked(provider: number, device: number): boolean {
    if (this.forgotten.has(device)) return false;
    const key = `${provider} ${device}`;
    return this.onLink.has(key) || (this.bound.has(key) && !this.isBindingOff[provider]);
  }

  /** What the worker does with everything that is due at `nowMs`. */
  deliver(nowMs: number): void {
    for (const one of this.sent) {
      if (one.status !== 10 || one.dueAtMs > nowMs) continue;
      const { targets } = one;
      const all = [...this.devices.keys()];
      const wanted =
        'os' in targets
          ? all.filter((d) => targets.os.includes(OS[d] ?? '') && this.isLinked(one.provider, d))
          : targets.devices;
      const reached = wanted.filter((d) => this.isLinked(one.provider, d));
      one.got = one.dueAtMs + EXPIRE_MS <= nowMs ? [] : reached;
      one.failed = wanted.length - one.got.length;
      one.status = one.got.length === 0 ? 120 : one.failed > 0 ? 110 : 100;
    }
  }

  /** In the order of a provider, which is the order of the times. */
  inbox(provider: number, device: number, nowMs: number): number[] {
    if (!this.isLinked(provider, device)) return [];
    return this.sent
      .filter((one) => one.provider === provider && one.got.includes(device))
      .filter((one) => one.status !== 140 && one.dueAtMs + EXPIRE_MS > nowMs)
      .sort((a, b) => a.dueAtMs - b.dueAtMs || a.id - b.id)
      .map((one) => one.id);
  }
}
