/** Cut-offs and bars: their records and their part of the port. */

import type { Act } from './audit.ts';
import type { Bar } from './bar.ts';
import type { LinkSelector } from './link.ts';
import type { Maybe } from './maybe.ts';
import type { PanelFacts } from './moving.ts';
import type { WantedCut } from './wanted-cut.ts';

/**
 * `differs`: another field of the user changed too; `ended`: it failed for a day; `changed`: the
 * credentials were new before it could change them.
 */
export const CUT_STATES = [
  'waiting',
  'done',
  'impossible',
  'differs',
  'cancelled',
  'ended',
  'changed',
] as const;
export type CutState = (typeof CUT_STATES)[number];

/** A change of the credentials of a link's user in its panel. */
export interface Cut {
  id: number;
  providerId: number;
  installId: number;
  /** The upstream; empty: none can cut the link off. */
  host: string;
  /** SHA-256 of the key of the link at that time; null: it had none. */
  keyHash: string | null;
  /** The hash of the bar that was made with it; null: none was. */
  hwidHash: string | null;
  state: CutState;
  /** Why the last attempt failed, or why it ended, in English; null: nothing to say. */
  why: string | null;
  /** True: the user of the link asked for it. */
  isByUser: boolean;
  askedAtMs: number;
  endedAtMs: number | null;
  nextAtMs: number;
  attemptCount: number;
  /** The print of the credentials that a failed attempt saw; null: none saw them. */
  seen: string | null;
  /** Devices that had to fetch again when it was done. */
  deviceCount: number;
  /** Those that have not fetched since. */
  waitingCount: number;
  /** The time until which apps fetch by themselves; null: it is not done. */
  fetchUntilMs: number | null;
}

/** The facts by which an upstream of a link is found. */
export interface CutFacts {
  installId: number;
  providerCode: string;
  /** SHA-256 of its key; null: it has none. */
  keyHash: string | null;
  status: number;
  deviceCount: number;
  /** `panel:user` of the operator's import or of an answer, and the facts of the import. */
  panelUser: string | null;
  facts: PanelFacts | null;
  /** Upstreams, by `proverOf`, whose panels answered the key with a subscription. */
  provedBy: readonly string[];
  /** Hosts whose last pass of `follow` saw the key. */
  followedBy: readonly string[];
}

export interface AskedCut {
  /** Devices with a slot now. */
  deviceCount: number;
  freedCount: number;
  cut: Cut;
}

/** The claim of a worker on an attempt. */
interface CutClaim {
  owner: string;
  nowMs: number;
  leaseUntilMs: number;
  /** The most cut-offs that begin within an hour for one provider. */
  perHourMax: number;
}

/** The outcome of an attempt, as it is kept. */
export type CutEnd =
  | { state: 'waiting'; why: string; seen: string | null; nextAtMs: number }
  | { state: 'done' | 'changed'; fetchUntilMs: number }
  | { state: 'differs'; fields: readonly string[]; fetchUntilMs: number }
  | { state: 'impossible' | 'ended'; why: string };

/** An upstream whose cut-offs stopped. */
export interface CutStop {
  host: string;
  /** Fields that a write changed beside the credentials. */
  fields: readonly string[];
  stoppedAtMs: number;
}

/** The cut-offs that a list shows. */
interface CutPage {
  /** Null: those of all providers. */
  providerId: number | null;
  /** Null: those of all links. */
  installId: number | null;
  isWaiting: boolean;
  beforeId: number | null;
  countMax: number;
}

export interface CutOffStore {
  /** Finds the facts about a link of the provider; null: it has none. */
  findCutFacts(providerId: number, install: LinkSelector): Maybe<CutFacts | null>;
  /**
   * Frees the slot of a HWID and its spellings, bars it, and keeps a cut-off that waits, or is
   * impossible. A cut-off of the link that waits is used again; so is the last one that was done,
   * if the HWID was barred before. Returns `cut_too_soon`, and changes nothing, if the user asked
   * within a day before.
   */
  askCut(
    providerId: number,
    wanted: WantedCut,
    act: Act,
  ): Promise<AskedCut | 'install_code_error' | 'cut_too_soon'>;
  /** Lists cut-offs, newest first. */
  listCuts(page: CutPage): Maybe<Cut[]>;
  /** Counts cut-offs that wait at each upstream, with the time of the oldest. */
  countWaitingCuts(): Maybe<{ host: string; count: number; askedAtMs: number }[]>;
  /** Cancels one that waits. `cut_running`: an attempt is being made. */
  cancelCut(
    providerId: number,
    id: number,
    act: Act,
  ): Promise<'ok' | 'cut_not_found' | 'cut_running'>;
  /** Claims the next attempt at an upstream; null: none is due. */
  claimCut(host: string, claim: CutClaim): Promise<Cut | null>;
  /** Keeps the outcome of an attempt. Returns false if the claim was lost. */
  endCutAttempt(hold: { id: number; owner: string }, end: CutEnd, act: Act): Promise<boolean>;
  /** Ends some that were asked for before a time, and of which no attempt is being made. */
  endOldCuts(askedBeforeMs: number, nowMs: number, act: Act): Promise<boolean>;
  /**
   * Notes that a device fetched the subscription of a link that waits for that; not if the fetch
   * began before the credentials changed.
   */
  noteFetched(installId: number, hwid: string, beganAtMs: number): Promise<void>;
  /** Notes that an upstream, by `proverOf`, proved the key of the provider's link. */
  noteKeyProof(providerId: number, keyHash: string, prover: string, nowMs: number): Promise<void>;
  /** Lists the bars of a link that have not ended, newest first. */
  listBars(installId: number, nowMs: number): Maybe<Bar[]>;
  /** Lifts the bars of these hashes on the provider's link. Returns their number. */
  liftBars(
    providerId: number,
    installId: number,
    hashes: readonly string[],
    act: Act,
  ): Promise<number | 'install_not_found'>;
  /** Lists the upstreams whose cut-offs stopped. */
  listCutStops(): Maybe<CutStop[]>;
  /** Lets an upstream go on. Returns false if it has not stopped. */
  resumeCuts(host: string, act: Act): Promise<boolean>;
  /**
   * Deletes some bars and waits that have ended, and cut-offs that ended before a time. Returns
   * false if there were none.
   */
  forgetCuts(endedBeforeMs: number, nowMs: number): Promise<boolean>;
}
