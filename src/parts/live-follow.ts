/** The panels that the settings follow, and the processes that read them. */

import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Core } from '../core/core.ts';
import type { FollowLine } from '../core/moving/follow.ts';
import type { Listing } from '../core/moving/follow-user.ts';
import { readAccessHeaders } from '../core/panel/access-headers.ts';
import { panelOf } from '../core/panel/kind.ts';
import type { Upstream } from '../http/upstream/settings.ts';
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
  secretOf(file: string): string | null;
}

type ReadPanel = (job: PanelJob, listing: Listing, signal: AbortSignal) => ReturnType<ReadFollowed>;

/** Makes the worker that follows the panels of the settings. */
export function followPanels({ settings, secretOf, ...deps }: Parts) {
  const read = readFollowedInProcess(ownCommand(), bareEnvironment());
  const inProcess: ReadPanel = (job, listing, signal) =>
    read(job, listing, { signal, memoryMaxMib: MEMORY_MAX_MIB, onProgress: () => {} });
  return makeFollower({
    ...deps,
    panels: () => followedPanels(settings.gateUpstreams, secretOf, inProcess),
  });
}

/** Returns the panels that upstreams follow; `read` reads one. */
export function followedPanels(
  upstreams: readonly Upstream[],
  secretOf: Parts['secretOf'],
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
    const { panelFile, panelHeadersFile, panelTokenFile, panelUrl, url } = upstream;
    if (panelFile !== '') {
      yield* read({ panel, path: panelFile }, listing, signal);
      return;
    }
    const token = secretOf(panelTokenFile);
    if (token === null) throw new OperatorError(`there is no token in ${panelTokenFile}`);
    const headers = readAccessHeaders(secretOf(panelHeadersFile) ?? '') ?? {};
    const callsPerSecondMax = CALLS_PER_SECOND_MAX;
    const job: PanelJob = { panel, url: panelUrl || url, token, headers, callsPerSecondMax };
    yield* read(job, listing, signal);
  }
}
