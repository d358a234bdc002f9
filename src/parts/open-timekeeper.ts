/** Makes the guard of the clock of this machine, which logs leaps. */

import { bootMs, systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/settings/index.ts';
import { Timekeeper } from '../core/timekeeper.ts';
import { nodeNameOf } from './open-core.ts';

export function openTimekeeper(config: Config, log: Log): Timekeeper {
  // A file is of one machine, whose name may change.
  const name = config.databaseUrl === null ? '' : nodeNameOf(config);
  return new Timekeeper({ ...systemClock, bootMs }, name, (change, leadMs) => {
    if (change === 'back') log.info('clock_back');
    else if (change === 'trusted') log.warn('clock_trusted');
    else log.warn('clock_leapt', { ahead_s: Math.round(leadMs / 1_000) });
  });
}
