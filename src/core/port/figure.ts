/** Figures by UTC day and provider: their names, and the part of the port that remembers them. */

import type { AdmitRefusal, AdmittedLink, NoLink } from './slot.ts';

/** Names in the order in which they are shown: see FIGURE_MEANINGS in core/figures.ts. */
export const FIGURES = [
  ...(['admitted', 'seen', 'refused_hwid', 'refused_domain', 'refused_disabled'] as const),
  ...(['refused_full', 'freed', 'links', 'sends', 'recipients', 'delivered'] as const),
  ...(['received', 'opened', 'executed', 'failed', 'expired'] as const),
] as const;

export type Figure = (typeof FIGURES)[number];
export type Figures = Record<Figure, number>;

/** Reason for which a device was refused at the door of a link that is known. */
export type RefusalReason = Exclude<AdmitRefusal, NoLink>;

/** A link that is known, and whose it is. */
export type KnownLink = Pick<AdmittedLink, 'installId' | 'providerId'>;

/** Refusals at the door of one link. */
export interface LinkRefusals {
  installCode: string;
  refusedCount: number;
  /** Time of the last one, which had the `reason`. */
  refusedAtMs: number;
  reason: RefusalReason;
}

/**
 * The steps of other parts count by themselves, in the commit of what they change: a change that is
 * not saved counts nothing, and one that is counts once. What has been counted is saved with a
 * later commit, or by `saveFigures` and `close`: a process that is killed loses what it counted
 * since.
 */
export interface FigureStore {
  /** Counts a refusal, of which nothing else is written. Never waits, never fails. */
  countRefusal(link: KnownLink, reason: RefusalReason, atMs: number): void;
  /** Saves what this process has counted; without anything it writes nothing. */
  saveFigures(): Promise<void>;
  /**
   * The figures that are saved, by UTC days since 1970, both included: of one provider, or (null)
   * of all together. Days without any may be left out.
   */
  listFigures(
    providerId: number | null,
    fromDay: number,
    toDay: number,
  ): Promise<(Figures & { day: number })[]>;
  /** The same, as one sum for each provider that has any. */
  sumFigures(fromDay: number, toDay: number): Promise<(Figures & { providerCode: string })[]>;
  /** The provider's links that refused a device since then, those that refused most first. */
  listRefusals(providerId: number, sinceMs: number, countMax: number): Promise<LinkRefusals[]>;
  /** Deletes some figures of days before. False: none was left. */
  forgetFigures(beforeDay: number): Promise<boolean>;
}
