/** Figures by UTC day and provider: their names and their part of the port. */

import type { AdmitRefusal, AdmittedLink, NoLink } from './slot.ts';

/** Names in the order of tables; FIGURE_MEANINGS of core/figures.ts explains them. */
export const FIGURES = [
  ...(['admitted', 'admitted_over', 'seen', 'refused_hwid', 'refused_domain'] as const),
  'refused_disabled',
  ...(['refused_full', 'freed', 'links', 'sends', 'recipients', 'delivered'] as const),
  ...(['received', 'opened', 'executed', 'failed', 'expired', 'carried'] as const),
] as const;

export type Figure = (typeof FIGURES)[number];
export type Figures = Record<Figure, number>;

/** Reason for which a known link refused a device. */
export type RefusalReason = Exclude<AdmitRefusal, NoLink>;

/** A known link and its provider. */
export type KnownLink = Pick<AdmittedLink, 'installId' | 'providerId'>;

/** A refused device by its own report: texts of at most 64 characters. */
export interface RefusedDevice {
  /** The HWID; empty: it sent none. */
  hwid: string;
  deviceName: string;
  os: string;
  /** The HWID of the slot that it probably had, if the policy compares phones; absent: none. */
  formerHwid?: string;
  /** The network of the caller; absent: unknown. It is not stored. */
  address?: string;
}

/** A refused device of a link. */
export interface KeptRefusal extends RefusedDevice {
  count: number;
  firstAtMs: number;
  /** Time of the last refusal; `reason` is its reason. */
  lastAtMs: number;
  reason: RefusalReason;
}

export interface RefusedStore {
  /** Lists the latest devices that a link refused, the latest first. */
  listRefused(installId: number): Promise<KeptRefusal[]>;
  /** Deletes some refused devices that were last refused before a time. False: there were none. */
  forgetRefused(beforeMs: number): Promise<boolean>;
}

/** Refusals of one link. */
export interface LinkRefusals {
  installId: number;
  installCode: string;
  refusedCount: number;
  /** Time of the last one; `reason` is its reason. */
  refusedAtMs: number;
  reason: RefusalReason;
}

/**
 * Steps of other parts of the port count each change once they commit it, in memory. `saveFigures`
 * and `close` save the counts: a killed process loses those since the last save.
 */
export interface FigureStore {
  /** Counts a refusal and keeps its device; writes nothing else. Never waits, never throws. */
  countRefusal(link: KnownLink, reason: RefusalReason, atMs: number, device?: RefusedDevice): void;
  /** Saves the counts and stamps of this process. Writes nothing if there are none. */
  saveFigures(): Promise<void>;
  /**
   * Lists the saved figures of a provider (null: the sums of all) from `fromDay` to `toDay`, which
   * are UTC days since 1970, both included. Days without figures may be missing.
   */
  listFigures(
    providerId: number | null,
    fromDay: number,
    toDay: number,
  ): Promise<(Figures & { day: number })[]>;
  /** Returns the sums of the same days for each provider that has figures. */
  sumFigures(fromDay: number, toDay: number): Promise<(Figures & { providerCode: string })[]>;
  /** Lists the provider's links that refused a device since a time, most refusals first. */
  listRefusals(providerId: number, sinceMs: number, countMax: number): Promise<LinkRefusals[]>;
  /** Deletes some figures of days before a day. Returns false if there were none. */
  forgetFigures(beforeDay: number): Promise<boolean>;
}
