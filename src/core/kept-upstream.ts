/** Upstreams of the gate that operators added in the console. */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { fromStore } from './outcome.ts';
import type { UpstreamKeys } from './port/upstream.ts';

/** As many as the configuration may have. */
const KEPT_COUNT_MAX = 64;

/** Adds an upstream (`isNew`), or replaces the keys of one. Refuses as the port says. */
export async function keepUpstream(
  core: Core,
  host: string,
  keys: UpstreamKeys,
  isNew: boolean,
  nowMs: number,
) {
  const act = actAt(core, nowMs);
  return fromStore(
    isNew
      ? await core.store.addUpstream(host, keys, KEPT_COUNT_MAX, act)
      : await core.store.changeUpstream(host, keys, act),
  );
}

/** Removes an upstream. Refuses `upstream_not_found`. */
export const removeUpstream = async (core: Core, host: string, nowMs: number) =>
  fromStore(await core.store.removeUpstream(host, actAt(core, nowMs)));
