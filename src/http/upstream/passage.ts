/** Judges whether a request may pass to a panel, before the panel is asked and after it answers. */

import type { Core } from '../../core/core.ts';
import {
  ANY_HWID,
  AT_DOOR,
  admitDevice,
  admitNewKey,
  type DeviceCall,
  isKeyEnded,
  judgeDevice,
  type RefusedAtDoor,
  verdictOn,
} from '../../core/door.ts';
import { FullLinkRefused } from '../../core/full-link.ts';
import { type KeyInPath, keyIn, type Path } from '../../core/key-path.ts';
import { isRefused, type Refused } from '../../core/outcome.ts';
import { oldNameIn } from '../../core/panel/token.ts';
import type { AdmittedDevice } from '../../core/port/install.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import {
  admitNewKeyWithoutHwid,
  PASSES,
  settleHwid,
  wayOfNewKeys,
} from '../../core/without-hwid.ts';
import type { DeviceWords } from '../endpoints/app.ts';
import type { GateReason } from '../gate/texts.ts';
import { type Query, REPEATED, valueIn } from '../request/query.ts';
import type { Obstacle, Outcome } from './answers.ts';
import type { PanelLimits } from './panel-limits.ts';
import type { Panel } from './panels.ts';

/** The facts of a request that decide whether it may pass. */
interface Visit extends DeviceWords {
  path: Path;
  /** Its parameters, with their names in lower case. */
  query: Query;
  /** The header `Accept`. */
  accepts: string;
  /** False for HEAD. */
  takesSlot: boolean;
  limitLinks: LinkLimit;
  /** The secret that signs tokens of the panel; null: the panel proves them. */
  secret: string | null;
  /** Follows the limits of the panel. */
  panelLimits: PanelLimits;
  /** Asks the panel for the number of the user in an old token: see `askForUser`. */
  askForUser(named: KeyInPath, name: string): Promise<KeyInPath | Obstacle | null>;
}

/**
 * Runs `make` unless the client has reached its limit of new links; counts it if the outcome is
 * `isMade`. Null: the limit is reached.
 */
export type LinkLimit = <T>(
  make: () => Promise<T>,
  isMade: (outcome: T) => boolean,
) => Promise<T | null>;

/** A refusal with a text for the user. */
export interface Denied {
  reason: GateReason;
  /** The name under which it is counted, unless that is `reason`. */
  outcome?: Outcome;
  isGuess?: boolean;
  /** The refusal of a full link. */
  full?: FullLinkRefused;
}

/** The permission to ask the panel, and the steps after its answer. */
export interface Passage {
  /**
   * Judges the request after a 2xx of the panel, which proves the token in its path; until then it
   * counts nothing, and its failures are guesses. Null: it is judged.
   */
  judge: ((nowMs: number) => Promise<Passage | Denied>) | null;
  /**
   * Takes the slot, and creates the link of a new key, after the panel has answered; returns the
   * link, or a refusal that arose since. Null: the request takes no slot.
   */
  admit: (() => Promise<AdmittedDevice | Denied | Obstacle>) | null;
  /** True if the page of users opens by the address of the request. */
  opensPage: boolean;
  /** The link that would admit the device, which takes a slot; null: none yet, or no slot. */
  link: AdmittedDevice | null;
  /** True: the app sends no HWID, and shares a slot with its kind. */
  isShared: boolean;
  /** True if the device has its slot: it is seen even if the panel answers 304. */
  holdsSlot: boolean;
  /** True for a key or code without a link: a guess if the panel does not know it either. */
  isNewKey: boolean;
  /** True for an unlisted path without a key: a guess if the panel has nothing there. */
  isOtherPath: boolean;
  /** True if the answer must be a page. */
  isForPage: boolean;
  /** True if the answer is for every client. */
  isForAll: boolean;
}

const JUDGED: Passage = {
  judge: null,
  admit: null,
  opensPage: true,
  link: null,
  isShared: false,
  holdsSlot: false,
  isNewKey: false,
  isOtherPath: false,
  isForPage: false,
  isForAll: false,
};
export const FREELY: Passage = { ...JUDGED, isForAll: true };
const BY_OTHER_PATH: Passage = { ...FREELY, isOtherPath: true };
const FOR_PAGE: Passage = { ...JUDGED, isForPage: true };
const UNKNOWN: Denied = { reason: 'link_not_found', isGuess: true };
/** The answer to an app without a HWID must not reveal whether the link exists. */
const UNKNOWN_UNNAMED: Denied = { reason: 'hwid_required', isGuess: true };
/**
 * The length from which a note shows the first characters of a key: of a shorter one they would be
 * half.
 */
const TELLING_LENGTH_MIN = 12;

/**
 * Judges a request. The key in the path names the link; `installid` names it only if the path has
 * no key or no link has the key. Otherwise any code of the provider would open every subscription.
 * Returns `link_not_found`, with `isGuess` for an unknown code or a token that is none, or another
 * refusal of the door; a passage with `judge` for a token that only the panel can prove; an
 * obstacle if the panel could not be asked for the user of an old token.
 */
export async function passageOf(
  core: Core,
  panel: Panel,
  visit: Visit,
  nowMs: number,
): Promise<Passage | Denied | Obstacle> {
  const { key: kind, keyPaths, otherPaths } = panel.upstream;
  const { hwid, path, query, secret } = visit;
  const unknown = hwid === null ? UNKNOWN_UNNAMED : UNKNOWN;
  let named = keyIn({ keyPaths, key: kind, secret }, path);
  const code = valueIn(query, 'installid');
  if (isRefused(named) && kind !== 'plain') return unknown;
  if (isRefused(named) || code === REPEATED) return { reason: 'link_not_found' };
  if (named === null && !code) {
    return otherPaths === 'pass' ? BY_OTHER_PATH : { reason: 'link_not_found' };
  }
  const oldName = named === null || kind === 'plain' ? null : oldNameIn(named.key);
  if (named !== null && oldName !== null) {
    const found = await visit.askForUser(named, oldName);
    if (found === null) return unknown;
    if (typeof found === 'string') return found;
    named = found;
  }
  const name = { key: named?.key ?? null, code: code ?? null };
  const judge = (atMs: number) => judgeVisit(core, panel, visit, name, atMs);
  const isJudged = named === null || named.isProven;
  if (isJudged && oldName === null) return judge(nowMs);
  const opensPage = false;
  if (!isJudged) return { ...JUDGED, judge, opensPage, isShared: hwid === null, isNewKey: true };
  const judged = await judge(nowMs);
  return 'reason' in judged ? judged : { ...judged, opensPage };
}

async function judgeVisit(
  core: Core,
  panel: Panel,
  { hwid, facts, accepts, takesSlot, limitLinks, panelLimits }: Visit,
  { key, code }: { key: string | null; code: string | null },
  nowMs: number,
): Promise<Passage | Denied> {
  const { upstream, hash: domainHash } = panel;
  const isBrowser = hwid === null && /\btext\/html\b/i.test(accepts);
  const { enforce: enforces, provider: providerCode } = upstream;
  const at = { domainHash, hwid, providerCode, enforces };
  if (isBrowser && upstream.browsers === 'pass') {
    const visitor = { ...at, hwid: ANY_HWID };
    const keyed = key === null ? [] : [{ ...visitor, installCode: null, subscriptionKey: key }];
    return forPage(core, [...keyed, { ...visitor, installCode: code }], nowMs);
  }
  const grant = (
    admit: () => Maybe<Admission | Obstacle>,
    link: AdmittedDevice | null = null,
  ): Passage => {
    if (!takesSlot) return JUDGED;
    return { ...JUDGED, admit: async () => answerOf(await admit()), link, isShared: hwid === null };
  };
  /** Judges a call; returns null if no link has its name. */
  const judge = async (named: DeviceCall): Promise<Passage | Denied | null> => {
    const call = isBrowser ? named : await settleHwid(core, named, nowMs);
    if (call === PASSES) return JUDGED;
    const judged = isRefused(call) ? call : await judgeDevice(core, call, nowMs, facts);
    if (judged === AT_DOOR.link_not_found) return null;
    if (isRefused(judged) || isRefused(call)) return denied(judged as RefusedAtDoor);
    const { holdsSlot } = judged;
    return { ...grant(() => admitDevice(core, call, facts, nowMs), judged), holdsSlot };
  };
  if (key !== null) {
    const call = { ...at, installCode: null, subscriptionKey: key };
    const first = await judge(call);
    const isDue = panelLimits.isDue(panel, key) || panelLimits.isOver(panel, key);
    const isChanged = first !== null && isDue && (await follow(panelLimits, panel, key, first));
    const judged = isChanged ? await judge(call) : first;
    if (judged !== null) return judged;
    // Limits new links: a client could invent keys that the panel accepts and use up the cap.
    if (!code) {
      const way = hwid === null ? await wayOfNewKeys(core, call, nowMs) : 'count';
      if (way === 'refuse') return UNKNOWN_UNNAMED;
      if (await isKeyEnded(core, call)) return denied(AT_DOOR.link_not_found);
      if (way === 'pass') return { ...JUDGED, isNewKey: true };
      const note = noteOf(upstream.host, key);
      const admitNew = hwid === null ? admitNewKeyWithoutHwid : admitNewKey;
      const make = async () => {
        const installLimit = (await panelLimits.of(panel, key)) ?? upstream.defaultLimit;
        return admitNew(core, call, { installLimit, note }, facts, nowMs);
      };
      const passage = grant(
        async () => (await limitLinks<Admission>(make, isMade)) ?? 'new_link_limit_reached',
      );
      return { ...passage, isNewKey: true };
    }
  }
  const judged = await judge({ ...at, installCode: code });
  const unknown = hwid === null ? UNKNOWN_UNNAMED : UNKNOWN;
  return judged ?? unknown;
}

/**
 * Copies the panel's limit to an existing link. Returns whether the limit changed. A device that
 * holds a slot does not wait for this.
 */
async function follow(
  limits: PanelLimits,
  panel: Panel,
  key: string,
  judged: Passage | Denied,
): Promise<boolean> {
  const isOpen = !('reason' in judged);
  if (!isOpen && judged.reason !== 'link_limit_reached') return false;
  if (!isOpen || !judged.holdsSlot) return limits.follow(panel, key);
  limits.followLater(panel, key);
  return false;
}

/**
 * Judges a request for a page, which takes no slot: the first link that is found must not be
 * closed.
 */
async function forPage(
  core: Core,
  calls: readonly DeviceCall[],
  nowMs: number,
): Promise<Passage | Denied> {
  for (const call of calls) {
    const judged = await verdictOn(core, call, nowMs);
    if (isRefused(judged)) continue;
    const { verdict } = judged;
    const isShut = verdict === 'link_disabled' || verdict === 'link_domain_not_bound';
    return isShut ? denied(AT_DOOR[verdict]) : FOR_PAGE;
  }
  return { ...FOR_PAGE, isNewKey: true };
}

type Admission = AdmittedDevice | RefusedAtDoor | Refused<'install_code_limit_reached'>;

/** Returns whether a link was created: only that counts against the limit of an address. */
function isMade(admission: Admission): boolean {
  return !isRefused(admission) && admission.isNew === true;
}

function answerOf(admission: Admission | Obstacle): AdmittedDevice | Denied | Obstacle {
  return isRefused(admission) ? denied(admission) : admission;
}

function denied(refused: RefusedAtDoor | Refused<'install_code_limit_reached'>): Denied {
  const { says, reason } = refused;
  if (refused instanceof FullLinkRefused) return { reason: refused.says, full: refused };
  if (says === 'install_code_limit_reached') return { reason: 'link_not_found', outcome: says };
  return { reason: says, ...(reason && { outcome: reason }) };
}

/** Makes the note of a created link: the user of a panel, or a part of the key too short to use. */
function noteOf(host: string, key: string): string {
  const user = key.slice(key.lastIndexOf('/') + 1);
  if (user !== key) return `${host} ${user}`;
  const characters = [...key];
  const isLong = characters.length >= TELLING_LENGTH_MIN;
  const beginning = isLong ? ` ${characters.slice(0, 4).join('')}…` : '';
  return `${host}${beginning}`;
}
