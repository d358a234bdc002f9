/**
 * The panels that the settings follow, with the processes that read them; and those where links are
 * cut off.
 */

import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { isPanelRefusal, OperatorError } from '../base/operator-error.ts';
import type { Core } from '../core/core.ts';
import type { FollowLine } from '../core/moving/follow.ts';
import type { Listing } from '../core/moving/follow-user.ts';
import { Silent } from '../core/panel/api.ts';
import { panelOf } from '../core/panel/kind.ts';
import { PanelCutOffs } from '../http/upstream/panel-cuts.ts';
import { type PanelSource, sourceOf } from '../http/upstream/panel-source.ts';
import { type PanelTokens, SIGN_IN_REFUSED } from '../http/upstream/panel-tokens.ts';
import type { Upstream } from '../http/upstream/settings.ts';
import { type Cutter, makeCutter } from '../jobs/cut-off.ts';
import { type FollowedPanel, makeFollower } from '../jobs/follow.ts';
import type { PanelJob } from '../panel/panel-read.ts';
import { type ReadFollowed, readFollowedInProcess } from '../panel/reader-process.ts';
import { bareEnvironment, ownCommand } from './own-program.ts';

/** The most memory of a process that reads, MiB: some 500,000 users. */
const MEMORY_MAX_MIB = 1_024;
/** Calls a second to the API of a panel: it serves customers too. */
const CALLS_PER_SECOND_MAX = 10;

interface Parts {
  core: Core;
  clock: Clock;
  log: Log;
  /** Read at each look. */
  settings: { readonly gateUpstreams: readonly Upstream[] };
  tokens: PanelTokens;
}

type ReadPanel = (job: PanelJob, listing: Listing, signal: AbortSignal) => ReturnType<ReadFollowed>;

/** Makes the worker that follows the panels of the settings. */
export function followPanels({ settings, tokens, ...deps }: Parts) {
  const read = readFollowedInProcess(ownCommand(), bareEnvironment());
  const inProcess: ReadPanel = (job, listing, signal) =>
    read(job, listing, { signal, memoryMaxMib: MEMORY_MAX_MIB, onProgress: () => {} });
  return makeFollower({
    ...deps,
    panels: () => followedPanels(settings.gateUpstreams, tokens, inProcess),
  });
}

/** Makes the worker that cuts links off at the panels of the settings. */
export function cutPanels({
  core,
  clock,
  log,
  settings,
  tokens,
}: Parts & { settings: { readonly cutsPerHourMax: number } }): Cutter {
  const cuts = new PanelCutOffs({ store: core.store, clock, settings, tokens });
  return makeCutter({ core, clock, log, cuts, settings });
}

/** Returns the panels that upstreams follow; `read` reads one. */
export function followedPanels(
  upstreams: readonly Upstream[],
  tokens: PanelTokens,
  read: ReadPanel,
): FollowedPanel[] {
  return upstreams.flatMap((upstream) => {
    const kind = panelOf(upstream);
    if (upstream.followMs === 0 || kind === null) return [];
    const { host, limits, unlimitedAs, defaultLimit, followGone: gone } = upstream;
    return [
      {
        host,
        kind,
        limits,
        unlimitedAs,
        defaultLimit,
        gone,
        withNotes: upstream.followNotes,
        providerCode: upstream.provider,
        everyMs: upstream.followMs,
        read: (listing, signal) => readOne(upstream, kind, listing, signal),
      },
    ];
  });

  async function* readOne(
    upstream: Upstream,
    panel: PanelJob['panel'],
    listing: Listing,
    signal: AbortSignal,
  ): AsyncGenerator<FollowLine> {
    const { panelFile } = upstream;
    if (panelFile !== '') {
      yield* read({ panel, path: panelFile }, listing, signal);
      return;
    }
    const source = sourceOf(upstream);
    if (source === null) throw new OperatorError('its settings name no API');
    const token = await tokenOf(tokens, source);
    const headers = tokens.accessOf(source);
    const callsPerSecondMax = CALLS_PER_SECOND_MAX;
    const job: PanelJob = { panel, url: source.url, token, headers, callsPerSecondMax };
    try {
      yield* read(job, listing, signal);
    } catch (fault) {
      if (isPanelRefusal(fault)) tokens.refused(source, token);
      throw fault;
    }
  }
}

/** Returns the token of a pass. Throws `OperatorError`. */
async function tokenOf(tokens: PanelTokens, source: PanelSource): Promise<string> {
  try {
    return await tokens.of(source);
  } catch (fault) {
    if (!(fault instanceof Silent)) throw fault;
    throw fault.code === SIGN_IN_REFUSED
      ? new OperatorError(
          'it refuses the name and the password in panel_account_file',
          'panel_refused',
        )
      : new OperatorError(`there is no token for it (${fault.code})`);
  }
}
