/** Asks the release page of `update.url` once a day, and notes the newest version. */

import type { Clock } from '../base/clock.ts';
import { type Log, reasonOf } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/calendar.ts';
import type { UpkeepStore } from '../core/port/upkeep.ts';

interface ReleaseDeps {
  /** Read at each run: a change applies at once. */
  settings: { readonly updateUrl: string };
  store: UpkeepStore;
  /** Returns the newest version of the page. Throws `OperatorError`. */
  ask(signal: AbortSignal): Promise<{ version: string }>;
  /** Called after a success or failure was noted. */
  onNoted(): Promise<void>;
  clock: Pick<Clock, 'nowMs'>;
  log: Log;
  /** Returns a number from 0 up to 1. */
  random(): number;
}

/** The longest time until the first question, ms: appliances do not ask at the same moment. */
const FIRST_MAX_MS = 10 * MINUTE_MS;
/** The longest time by which a question comes later than a day after the one before, ms. */
const JITTER_MS = HOUR_MS;

/** Returns the check, which asks if a question is due; to be called once a minute. */
export function makeReleaseCheck(deps: ReleaseDeps): (signal: AbortSignal) => Promise<void> {
  const { settings, store, ask, onNoted, clock, log, random } = deps;
  let url: string | null = null;
  let dueMs = 0;

  /** Returns the last time at which any node asked, UTC ms. */
  async function askedMs(): Promise<number> {
    const row = (await store.listUpkeep()).find(({ task }) => task === 'release');
    return Math.max(row?.success?.atMs ?? 0, row?.failure?.atMs ?? 0);
  }

  return async (signal) => {
    const nowMs = clock.nowMs();
    if (settings.updateUrl !== url) {
      url = settings.updateUrl;
      await store.noteSchedule('release', url === '' ? '' : 'daily', nowMs);
      dueMs = nowMs + random() * FIRST_MAX_MS;
    }
    if (url === '' || nowMs < dueMs) return;
    const nextMs = (await askedMs()) + DAY_MS;
    dueMs = Math.max(nowMs + DAY_MS, nextMs) + random() * JITTER_MS;
    if (nowMs < nextMs) {
      dueMs = nextMs + random() * JITTER_MS;
      return;
    }
    try {
      const { version } = await ask(signal);
      log.info('release_checked', { newest: version });
      await store.noteSuccess('release', {
        atMs: nowMs,
        result: version,
        bytes: null,
        tookMs: null,
      });
    } catch (fault) {
      if (signal.aborted) return;
      const isKnown = fault instanceof OperatorError;
      const reason = isKnown ? fault.message : reasonOf(fault);
      log.warn('release_not_checked', { reason });
      await store.noteFailure('release', {
        atMs: nowMs,
        reason,
        code: isKnown ? fault.code : null,
      });
    }
    await onNoted();
  };
}
