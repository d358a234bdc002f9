/** Finds settings of an upstream by which servers could get out without a limit. */

import type { Log } from '../../base/log.ts';
import { signs } from '../../core/panel/kind.ts';
import type { Upstream } from './settings.ts';

type Opening = 'browsers' | 'pass_paths';

/** The segment under which all panels have their API, some with the servers of each user. */
const API = 'api';

export function openingsOf({ browsers, passPaths }: Upstream): Opening[] {
  const reachesApi = passPaths.some(({ segments }) =>
    segments.some((segment) => segment.toLowerCase() === API),
  );
  return [
    ...(browsers === 'pass' ? (['browsers'] as const) : []),
    ...(reachesApi ? (['pass_paths'] as const) : []),
  ];
}

/** Returns true if the panel signs tokens, and only it can prove them. */
export function lacksSecret({ key, keySecretFile }: Upstream): boolean {
  return signs(key) && keySecretFile === '';
}

/** Logs each opening once; `logged` remembers them by host. */
export function warnOfOpenings(
  upstreams: readonly Upstream[],
  logged: Set<string>,
  log: Log,
): void {
  for (const upstream of upstreams) {
    for (const setting of openingsOf(upstream)) {
      const { host } = upstream;
      const key = `${setting} ${host}`;
      if (logged.has(key)) continue;
      logged.add(key);
      log.warn('upstream_open', { host, setting });
    }
  }
}
