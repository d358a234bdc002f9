/** The way to the figures of one link that does not wait for its app's next fetch. */

import type { Figures } from './subscription-figures.ts';

export interface FiguresReader {
  /**
   * Asks the panel that proved the link for its figures. Null: no panel may be asked about it, or
   * it gave no answer in time. Never throws.
   */
  read(installId: number, signal: AbortSignal): Promise<Figures | null>;
}
