/**
 * The figures of subscriptions, as panels tell them to apps: records and their part of the port.
 * They are kept for providers with `subscriptionFigures` alone.
 */

import type { Maybe } from './maybe.ts';

/** Figures as a panel says them. */
export interface Figures {
  /** When it ends; null: never, or not known. */
  endsAtMs: number | null;
  /** The traffic that it has; null: unlimited, or not known. */
  totalBytes: number | null;
  /** The traffic that was used, up and down; null: not known. */
  usedBytes: number | null;
}

/** Where figures were read: in the answer to an app, or from the API of the panel. */
const FIGURES_SOURCES = ['proxy', 'panel'] as const;
export type FiguresSource = (typeof FIGURES_SOURCES)[number];

/** The figures of a link. */
export interface KeptFigures extends Figures {
  readAtMs: number;
  source: FiguresSource;
  /** Since when end and total are read alike. */
  sinceMs: number;
  /** End and total that two reads agreed on: the period that the user paid for. */
  periodEndsAtMs: number | null;
  periodTotalBytes: number | null;
}

/** The figures of a link as they are shown. */
export interface ShownFigures extends Figures {
  readAtMs: number;
}

/** A filter of links by their figures; null or absent: any. */
export interface FiguresFilter {
  /** Only subscriptions that end at or after this time, UTC ms. */
  endsFromMs?: number | null;
  /** Only subscriptions that end before this time, UTC ms. */
  endsBeforeMs?: number | null;
  /** Only subscriptions that used at least so many per cent of their traffic. */
  usedPercent?: number | null;
  /**
   * Only links older than this time, UTC ms, whose figures were kept since before it and not read
   * at or after it.
   */
  unreadSinceMs?: number | null;
}

/** The terms of a provider about figures. */
export interface OwnFigures {
  /** 1: the figures of its customers' subscriptions are kept. */
  subscriptionFigures: 0 | 1;
}

export interface SubscriptionFiguresStore {
  /** Finds the figures of a link; null: none are kept. */
  findSubscriptionFigures(installId: number): Maybe<KeptFigures | null>;
  /** Lists the figures of these links that are kept. */
  listSubscriptionFigures(
    installIds: readonly number[],
  ): Maybe<(ShownFigures & { installId: number })[]>;
  /**
   * Keeps what was read of a link, by the rule `afterRead` of core/subscription-figures.ts. Keeps
   * nothing for a provider without `subscriptionFigures`, and of a link that ended.
   */
  keepSubscriptionFigures(
    installId: number,
    read: Figures,
    source: FiguresSource,
    nowMs: number,
  ): Promise<void>;
  /**
   * Deletes some figures that were last read before a time, or whose provider keeps none.
   * Returns false if there were none.
   */
  forgetSubscriptionFigures(readBeforeMs: number): Promise<boolean>;
}
