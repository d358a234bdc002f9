/** Checks cut-offs: upstreams that stopped, those that wait, and settings that allow none. */

import { about, type Finding } from '../base/finding.ts';
import { HOUR_MS } from '../core/calendar.ts';
import { counted } from '../core/counted.ts';
import { type CutUpstream, canCut } from '../core/panel/cut-off.ts';
import type { CutSurvey } from '../store/kind.ts';

const say = about('cut-off');

/** The time after which one that waits is a warning. */
const LATE_MS = HOUR_MS;

/** Returns the findings about the upstreams that may change credentials. */
export function checkCuts(
  upstreams: readonly CutUpstream[],
  { stops, waiting }: CutSurvey,
  nowMs: number,
): Finding[] {
  const stopped = stops.map(({ fields, host }) =>
    say.problem(
      'cut_off_stopped',
      `cut-offs at ${host} have stopped: with the credentials of a user its panel changed ${fields.join(', ')}`,
      `compare that user with a backup of the panel and set the fields right; then run 'gatepost cuts resume ${host}', or switch cut_off off`,
      host,
    ),
  );
  const waits = waiting.map(({ askedAtMs, count, host }) =>
    nowMs >= askedAtMs + LATE_MS
      ? say.warning(
          'cut_off_waits',
          `${counted(count, 'cut-off')} at ${host} ${count === 1 ? 'waits' : 'wait'}, the oldest for ${counted(Math.floor((nowMs - askedAtMs) / HOUR_MS), 'hour')}`,
          "look at 'gatepost cuts list --waiting': each says why, and ends after a day",
          host,
        )
      : say.ok(`${counted(count, 'cut-off')} at ${host} ${count === 1 ? 'waits' : 'wait'}`),
  );
  const unable = upstreams
    .filter(({ cutOff }) => cutOff)
    .flatMap((upstream) => {
      const can = canCut(upstream, upstreams);
      if (can.possible) return [];
      const { host } = upstream;
      return say.warning(
        'cut_off_impossible',
        `cut_off is on for ${host}, and nothing can be cut off there: ${can.why}`,
        'correct the settings of the upstream, or switch cut_off off: docs/cut-off.md',
        host,
      );
    });
  return [...stopped, ...waits, ...unable];
}
