/** Outages of the database: logs the start and the end of each, and why calls fail otherwise. */

import type { Log } from '../base/log.ts';
import type { Trouble } from '../core/port/store.ts';

export class Outages {
  /** Called at each change. */
  onChange: () => void = () => undefined;
  #isAway = false;

  constructor(private readonly log: Pick<Log, 'error' | 'warn' | 'info'>) {}

  get isAway(): boolean {
    return this.#isAway;
  }

  /** Logs the start of an outage; `problem` holds no address and no password. */
  onAway = (problem: string): void => {
    this.#isAway = true;
    this.log.error('database_away', { problem });
    this.onChange();
  };

  /** Logs the end of an outage; `refusedCount` calls of the store failed meanwhile. */
  onBack = (awayMs: number, refusedCount: number): void => {
    this.#isAway = false;
    this.log.info('database_back', { ms: Math.round(awayMs), refused: refusedCount });
    this.onChange();
  };

  /** Logs why calls fail. */
  onTrouble = (trouble: Trouble, problem: string): void => {
    if (trouble === 'busy') this.log.warn('database_busy', { problem });
    else this.log.warn('database_full', { problem });
  };
}
