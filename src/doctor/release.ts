/** Checks whether a newer version was found at `update.url`; asks nothing. */

import { about, type Finding } from '../base/finding.ts';
import { VERSION } from '../base/version.ts';
import type { Upkeep } from '../core/port/upkeep.ts';
import { failureOf, newerVersion, upkeepOf } from '../core/upkeep.ts';

const say = about('version');

export function checkRelease(
  { updateUrl }: { readonly updateUrl: string },
  upkeep: readonly Upkeep[],
  current = VERSION,
): Finding[] {
  const row = upkeepOf(upkeep, 'release');
  if (updateUrl === '' || row === null) return [];
  const newer = newerVersion(upkeep, current);
  if (newer !== null) {
    const what = `${newer} is available; this is ${current}`;
    const todo = `make a backup, then install it; its files are at ${updateUrl}`;
    return [say.warning('version_newer', what, todo)];
  }
  const failure = failureOf(row);
  // One failure may be of a page that is away for a moment.
  if (failure !== null && (row.failureCount > 1 || failure.code === 'release_refused')) {
    const what = `whether there is a newer version is unknown: ${failure.reason}`;
    const todo = "correct update.url and update.key; 'gatepost update --check' tries them";
    return [say.warning('version_unknown', what, todo)];
  }
  if (row.success === null) return [];
  const askedAt = new Date(row.success.atMs).toISOString();
  return [say.ok(`${current} is the newest version, as of ${askedAt}`)];
}
