/** Reads figures of subscriptions from the APIs of panels, for reminders. */

import type { Figures } from './subscription-figures.ts';

export interface FiguresReader {
  /**
   * Asks the panel of a link for its figures now, and keeps them. Null: no panel proved the key of
   * the link, it has no such user, or it does not answer. Never throws for an answer of a panel.
   */
  read(installId: number): Promise<Figures | null>;
}
