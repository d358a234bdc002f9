/** Checks the panels that are followed. */

import { about, type Finding } from '../base/finding.ts';
import { counted } from '../core/counted.ts';
import { type Following, standingOf } from '../core/follow-standing.ts';
import type { Follow } from '../core/port/follow.ts';

const say = about('follow');

/** Returns a finding for each panel that the settings follow. */
export function checkFollows(
  following: readonly Following[],
  follows: readonly Follow[],
  nowMs: number,
): Finding[] {
  return following.map((one) => {
    const follow = follows.find(({ host }) => host === one.host) ?? null;
    return findingOf(one, follow, nowMs);
  });
}

function findingOf(following: Following, follow: Follow | null, nowMs: number): Finding {
  const { host } = following;
  const name = `the panel of ${host}`;
  const { failure = null, pass = null, view = null } = follow ?? {};
  const last =
    pass === null ? 'no pass was whole yet' : `the last whole pass was ${ago(nowMs - pass.atMs)}`;
  const why = failure === null ? '' : `: ${failure.reason}`;
  switch (standingOf(follow, following, nowMs)) {
    case 'begins':
      return say.ok(`${name} is followed; the first pass has not ended yet`);
    case 'held':
      return say.problem(
        'follow_held',
        `${name} is not followed: a pass waits for you${why}`,
        `look at the panel; if it is right, run 'gatepost follow accept ${host}'`,
        host,
      );
    case 'refused':
      return say.problem(
        'follow_refused',
        `${name} cannot be read${why}; ${last}`,
        'check panel_token_file or panel_account_file of gate.upstream',
        host,
      );
    case 'late':
      return say.problem(
        'follow_late',
        `${name} is not followed${why || ': passes do not end'}; ${last}`,
        'check that the server and the panel run, and panel_url or panel_file of gate.upstream',
        host,
      );
    case 'failing':
      return say.warning(
        'follow_failing',
        `${name} could not be read ${counted(failure?.count ?? 1, 'time')} since the last whole pass${why}`,
        'nothing, if it ends by itself: passes go on',
        host,
      );
    case 'partial':
      return say.warning(
        'follow_partial',
        `${name} shows the users of the admin ${view} alone: others get no link, and none of them ends`,
        'use the token of an admin who sees all users, unless these are all that Gatepost serves',
        host,
      );
    case 'follows': {
      const users = counted(pass?.userCount ?? 0, 'user');
      return say.ok(`${name} is followed: ${users}, ${last}`);
    }
  }
}

const MINUTE_MS = 60_000;

/** Returns a time span in words. */
function ago(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / MINUTE_MS));
  if (minutes < 120) return `${counted(minutes, 'minute')} ago`;
  return `${counted(Math.floor(minutes / 60), 'hour')} ago`;
}
