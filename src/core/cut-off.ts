/**
 * Cut-off: the panel of a link makes the credentials of its user new, so that copied servers stop;
 * the link stays as it is. With a HWID its slot is freed and it is barred, else its app would fetch
 * the new servers. The panel is asked later, by src/jobs/cut-off.ts:
 *
 * | The attempt | The cut-off |
 * |---|---|
 * | changed the credentials, and read them back | is `done` |
 * | failed | waits, for a day at most, then is `ended` |
 * | found other credentials than an attempt before | is `changed` |
 * | cannot succeed | is `impossible` |
 * | changed another field, too | `differs`: the upstream makes none until the operator looks |
 *
 * Only a panel that proved the key of a link is asked: by a subscription, by `follow`, or by the
 * operator's import; never because a provider typed the key.
 */

import { actAt } from './audit/entry.ts';
import { barHashesOf } from './bar.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './calendar.ts';
import type { Core } from './core.ts';
import { fromStore, isRefused, Refused, saving } from './outcome.ts';
import {
  type CutOutcome,
  type CutUpstream,
  canCut,
  isSamePanel,
  proverOf,
} from './panel/cut-off.ts';
import { panelOf } from './panel/kind.ts';
import { isProvedBy } from './panel/proof.ts';
import type { AskedCut, Cut, CutEnd, CutFacts } from './port/cut-off.ts';
import type { LinkSelector } from './port/link.ts';
import type { Provider } from './port/provider.ts';
import type { Policy } from './port/slot.ts';
import type { Way } from './port/way.ts';

/** The life of a cut-off that waits. */
export const CUT_WAITS_MS = DAY_MS;
/**
 * The most cut-offs of a provider that wait, and of its users: as many as the hours of a day allow
 * by default.
 */
export const CUTS_WAITING_MAX = 480;
/** The most cut-offs that the history of a link keeps. */
export const CUTS_OF_LINK_MAX = 20;
/** Days for which those that ended are kept. */
export const CUT_DAYS = 90;
/** Users of links have so many times as many cut-offs within an hour as their provider. */
export const USERS_TIMES = 10;
/** The time between two cut-offs that the user of a link asks for. */
export const USER_CUT_MS = DAY_MS;
/** The longest time for which apps are asked to fetch again soon. */
export const FETCH_WAIT_MS = 7 * DAY_MS;
/** Hours after which apps fetch again, where neither panel nor settings say it. */
const INTERVAL_HOURS = 24;
/** The interval of a link whose devices must fetch again, hours. */
export const SHORT_INTERVAL_HOURS = 1;

const FIRST_PAUSE_MS = MINUTE_MS;
const LAST_PAUSE_MS = HOUR_MS;

/** Returns the upstreams of the settings. */
const upstreamsOf = ({ limits }: Pick<Core, 'limits'>): readonly CutUpstream[] =>
  limits.gateUpstreams as readonly (Way & CutUpstream)[];

/** Returns the hosts whose upstreams may change credentials. */
export const cutHosts = (core: Pick<Core, 'limits'>): CutUpstream[] =>
  upstreamsOf(core).filter(({ cutOff }) => cutOff);

/** Returns whether the panel of an upstream proved the present key of a link. */
function isProvedAt(
  upstream: CutUpstream,
  facts: CutFacts,
  ofProvider: readonly CutUpstream[],
): boolean {
  const { host } = upstream;
  if (facts.provedBy.includes(proverOf(upstream)) || facts.followedBy.includes(host)) return true;
  const panel = panelOf(upstream);
  if (panel === null || facts.facts === null) return false;
  const tie = { ...facts, subscriptionKeyHash: facts.keyHash };
  if (!isProvedBy(panel, tie)) return false;
  // An import names the kind of panel alone.
  return ofProvider.every((other) => panelOf(other) !== panel || isSamePanel(other, upstream));
}

/** The upstream at which a link can be cut off, or the reason why it cannot. */
type CutPlace = { host: string; why: null } | { host: null; why: string };

/** Finds the upstream at which a link can be cut off. Asks no panel. */
export function cutPlaceOf(core: Pick<Core, 'limits'>, facts: CutFacts): CutPlace {
  const no = (why: string): CutPlace => ({ host: null, why });
  const all = upstreamsOf(core);
  const ofProvider = all.filter(({ provider }) => provider === facts.providerCode);
  if (!ofProvider.some(({ cutOff }) => cutOff)) {
    return no('the operator has switched cut_off on for no panel of the provider');
  }
  if (facts.keyHash === null) return no('the link has no subscription key');
  const proved = ofProvider.filter((one) => isProvedAt(one, facts, ofProvider));
  const [first, ...others] = proved;
  if (first === undefined) return no('no panel has proved the subscription key of the link');
  if (others.some((one) => !isSamePanel(one, first))) {
    return no('several panels have the subscription key of the link');
  }
  const able = proved.map((one) => ({ one, can: canCut(one, all) }));
  const found = able.find(({ can }) => can.possible);
  if (found !== undefined) return { host: found.one.host, why: null };
  const [{ can } = {}] = able;
  return no(can?.possible === false ? can.why : 'no panel can cut it off');
}

/** The effect of a cut-off, for the person who asks for it. */
export interface CutPreview {
  /** Null: it is possible. */
  why: string | null;
  /** Devices that must fetch again. */
  deviceCount: number;
  /** The time until which their apps do by themselves, if the panel is up. */
  fetchUntilMs: number;
  /** False: a phone with a copied HWID gets the new credentials, too. */
  endsCopies: boolean;
}

/** Returns whether the rule of a link keeps phones with a copied HWID out. */
const endsCopies = (policy: Policy | null): boolean =>
  policy?.copiedHwid === 'count' || policy?.copiedHwid === 'refuse';

/** Returns what a cut-off would do; null: the provider has no such link. */
export async function previewCut(
  core: Core,
  { id }: Pick<Provider, 'id'>,
  selector: LinkSelector,
  nowMs: number,
): Promise<CutPreview | null> {
  const facts = await core.store.findCutFacts(id, selector);
  if (facts === null) return null;
  const { host, why } = cutPlaceOf(core, facts);
  const fetchUntilMs = nowMs + intervalMs(core, host, null);
  const policy = await core.store.findPolicy(facts.installId);
  return { why, deviceCount: facts.deviceCount, fetchUntilMs, endsCopies: endsCopies(policy) };
}

/** Returns the time after which apps fetch again; `said`: hours, as the panel says it. */
function intervalMs(core: Pick<Core, 'limits'>, host: string | null, said: number | null): number {
  const upstream = core.limits.gateUpstreams.find((one) => one.host === host);
  const hours = upstream?.updateIntervalHours || said || INTERVAL_HOURS;
  return Math.min(hours * HOUR_MS, FETCH_WAIT_MS);
}

/** The state of a cut-off as calls answer it in `x-cut-off`. */
export const shortStateOf = ({ state }: Pick<Cut, 'state'>): 'waiting' | 'done' | 'impossible' => {
  if (state === 'waiting') return state;
  return state === 'done' || state === 'changed' ? 'done' : 'impossible';
};

/**
 * Cuts a link off, and with a HWID frees its slot and bars it. Refuses `install_code_error` if the
 * provider has no such link, `cut_save_error` if it could not be saved, or the provider has changed
 * too much. A link that cannot be cut off is no refusal: the slot is freed, and the state says it.
 */
export async function cutOff(
  core: Core,
  { id }: Pick<Provider, 'id'>,
  selector: LinkSelector,
  hwid: string | null,
  nowMs: number,
): Promise<AskedCut | Refused<'install_code_error' | 'cut_save_error'>> {
  const facts = await core.store.findCutFacts(id, selector);
  if (facts === null) return new Refused('install_code_error');
  const { installId, keyHash } = facts;
  const wanted = { installId, keyHash, hwid, ...cutPlaceOf(core, facts), isByUser: false };
  const asked = await saving('cut_save_error', core.store.askCut(id, wanted, actAt(core, nowMs)));
  if (isRefused(asked)) return asked;
  if (asked === 'cut_too_soon') return new Refused('cut_save_error');
  return asked === 'install_code_error' ? new Refused(asked) : asked;
}

/** Cancels a cut-off that waits. */
export const cancelCut = async (
  core: Core,
  { id: providerId }: Pick<Provider, 'id'>,
  id: number,
  nowMs: number,
): Promise<'ok' | Refused<'cut_not_found' | 'cut_running'>> =>
  fromStore(await core.store.cancelCut(providerId, id, actAt(core, nowMs)));

/** Names the bars of a link: a HWID, in any spelling, or the hash that lists show. */
export type BarName = { hwid: string } | { hwidHash: string };

/** Lifts the bars of a HWID on a link. Returns their number. */
export async function liftBar(
  core: Core,
  { id }: Pick<Provider, 'id'>,
  installId: number,
  name: BarName,
  nowMs: number,
): Promise<{ liftedCount: number } | Refused<'install_not_found'>> {
  const hashes = 'hwid' in name ? barHashesOf(name.hwid) : [name.hwidHash];
  const lifted = await core.store.liftBars(id, installId, [...new Set(hashes)], actAt(core, nowMs));
  return typeof lifted === 'number' ? { liftedCount: lifted } : new Refused(lifted);
}

/** Keeps the outcome of an attempt. Returns false if another worker has the cut-off since. */
export const endAttempt = (
  core: Core,
  cut: Cut,
  owner: string,
  outcome: CutOutcome,
  nowMs: number,
): Promise<boolean> =>
  core.store.endCutAttempt(
    { id: cut.id, owner },
    endOf(core, cut, outcome, nowMs),
    actAt(core, nowMs),
  );

/** Ends cut-offs that have waited for a day, one at a time. Returns false if there was none. */
export const endOldCut = (core: Core, nowMs: number): Promise<boolean> =>
  core.store.endOldCuts(core.leastMs(nowMs) - CUT_WAITS_MS, nowMs, actAt(core, nowMs));

/** Lets an upstream make cut-offs again. Returns false if it has not stopped. */
export const resumeCuts = (core: Core, host: string, nowMs: number): Promise<boolean> =>
  core.store.resumeCuts(host, actAt(core, nowMs));

/** Returns what is kept of an attempt. */
function endOf(
  core: Pick<Core, 'limits'>,
  { askedAtMs, attemptCount, host, seen }: Cut,
  outcome: CutOutcome,
  nowMs: number,
): CutEnd {
  const fetchUntilMs = (said: number | null) => nowMs + intervalMs(core, host, said);
  switch (outcome.is) {
    case 'done':
      return { state: 'done', fetchUntilMs: fetchUntilMs(outcome.interval) };
    case 'changed_already':
      return { state: 'changed', fetchUntilMs: fetchUntilMs(null) };
    case 'differs':
      return { state: 'differs', fields: outcome.fields, fetchUntilMs: fetchUntilMs(null) };
    case 'impossible':
      return { state: 'impossible', why: outcome.why };
    case 'failed': {
      if (nowMs >= askedAtMs + CUT_WAITS_MS) return { state: 'ended', why: outcome.why };
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(attemptCount - 1, 10), LAST_PAUSE_MS);
      return {
        state: 'waiting',
        why: outcome.why,
        seen: outcome.seen ?? seen,
        nextAtMs: nowMs + pause,
      };
    }
  }
}
