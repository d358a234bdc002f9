/** Upstreams of the gate that operators added in the console; others are in the configuration. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';

export interface KeptUpstream {
  /** The host of its subscriptions, in the form of `hostName`. */
  host: string;
  /** Its keys as the configuration spells them, JSON. */
  settings: string;
  updatedAtMs: number;
  /** Name of the actor who changed it last. */
  updatedBy: string;
}

/** What is kept of an upstream: its keys by their names. */
export type UpstreamKeys = Readonly<Record<string, unknown>>;

export interface UpstreamStore {
  /** Lists them in the order of their hosts. */
  listUpstreams(): Maybe<KeptUpstream[]>;

  /** Adds an upstream, unless its host has one or there are `countMax`. */
  addUpstream(
    host: string,
    keys: UpstreamKeys,
    countMax: number,
    act: Act,
  ): Maybe<'ok' | 'upstream_exists' | 'upstream_limit_reached'>;

  /** Replaces the keys of an upstream. */
  changeUpstream(host: string, keys: UpstreamKeys, act: Act): Maybe<'ok' | 'upstream_not_found'>;

  removeUpstream(host: string, act: Act): Maybe<'ok' | 'upstream_not_found'>;
}
