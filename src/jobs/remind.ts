/**
 * Sends reminders: passes over the links of each provider, one after the other, by the rules of
 * core/reminder-pass.ts. Nodes share the providers by leases. Reminders begin by the clock, so a
 * pass goes by the earlier of clock and steady time: docs/time.md.
 */

import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Core } from '../core/core.ts';
import type { FiguresReader } from '../core/port/figures-reader.ts';
import { makePasses, PassMemory } from '../core/reminder-pass.ts';

interface ReminderDeps {
  core: Core;
  clock: Pick<Clock, 'nowMs' | 'steadyMs'>;
  log: Log;
  /** Asks panels about links that no app has fetched for two days; null: none can be asked. */
  reader: FiguresReader | null;
}

/** Goes over all providers; to be called every minute. */
export type Reminder = (signal: AbortSignal) => Promise<void>;

export function makeReminder({ core, clock, log, reader }: ReminderDeps): Reminder {
  const memory = new PassMemory();
  const onStopped = (code: string, moved: number, links: number) => {
    log.warn('reminders_stopped', { provider: code, moved, links });
  };
  return async (signal) => {
    const owner = await core.store.nameWorker();
    const parts = { core, owner, reader, memory, onStopped, signal, steadyMs: clock.steadyMs };
    await makePasses(parts, core.leastMs(clock.nowMs()));
  };
}
