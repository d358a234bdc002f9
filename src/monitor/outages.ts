/** Outages of the database: a line of the log when one begins and when it ends. */

import type { Log } from '../log.ts';

export class Outages {
  /** Hears of each change. */
  onChange: () => void = () => undefined;
  #isAway = false;

  constructor(private readonly log: Pick<Log, 'error' | 'info'>) {}

  get isAway(): boolean {
    return this.#isAway;
  }

  /** `problem` holds no address and no password. */
  onAway = (problem: string): void => {
    this.#isAway = true;
    this.log.error('database_away', { problem });
    this.onChange();
  };

  /** `refusedCount`: calls of the store that failed meanwhile. */
  onBack = (awayMs: number, refusedCount: number): void => {
    this.#isAway = false;
    this.log.info('database_back', { ms: Math.round(awayMs), refused: refusedCount });
    this.onChange();
  };
}
