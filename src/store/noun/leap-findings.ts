/** Findings of the doctor about clocks that leapt: docs/time.md. */

import { about, type Finding } from '../../base/finding.ts';
import { HOUR_MS } from '../../core/calendar.ts';
import { isSpent, isSuspended, LEAP_LASTS_MS, leadText } from '../../core/leap.ts';
import type { KeptTime } from '../../core/port/time.ts';

const REMEDY =
  "set the clock; or if it is right, run 'gatepost clock trust': then deletion goes on at once";

const say = about('clock leap');

/** Reports each machine whose clock has leapt, by the times that servers stored. */
export function leapFindings(times: readonly KeptTime[]): Finding[] {
  return times.flatMap((time) => {
    if (time.leap === null) return [];
    const whose = time.name === '' ? 'the clock' : `the clock of ${time.name}`;
    const what = `${whose} leapt: ${leadText(time.leap.leadMs)}`;
    if (isSuspended(time)) {
      const leftMs = LEAP_LASTS_MS - (time.ranMs - time.leap.sinceRanMs);
      const hours = Math.max(1, Math.ceil(leftMs / HOUR_MS));
      const until = `in ${hours} h the clock is taken for right`;
      return [
        say.problem(
          'clock_leapt',
          `${what}; nothing is deleted by it, and ${until}`,
          REMEDY,
          time.name,
        ),
      ];
    }
    const spent = isSpent(time) ? ': leaps suspended it for 48 h of the last 30 days' : '';
    return [
      say.problem(
        'clock_leapt',
        `${what}; deletion goes on by the earlier clock${spent}`,
        REMEDY,
        time.name,
      ),
    ];
  });
}
