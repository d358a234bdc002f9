/** Upstreams of the gate that operators added in the console; the configuration has the others. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';

export interface KeptUpstream {
  /** The host of its subscriptions, in the form of `hostName`. */
  host: string;
  /** Its keys with the names of the configuration, JSON. */
  settings: string;
  updatedAtMs: number;
  /** Name of the actor who changed it last. */
  updatedBy: string;
}

/** The keys of an upstream by name. */
export type UpstreamKeys = Readonly<Record<string, unknown>>;

/** The reaction of a panel: which status came to which path, or the error. */
export interface PanelReaction {
  state:
    | 'answers'
    | 'fails'
    | 'own_address'
    | 'drops'
    | 'not_trusted'
    | 'silent'
    | 'answers_any_key';
  detail: string;
}

export interface UpstreamStore {
  /** Lists the upstreams by host. */
  listUpstreams(): Maybe<KeptUpstream[]>;

  /** Adds an upstream. Returns `upstream_exists`, or `upstream_limit_reached` at `countMax`. */
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
