/** Leave to pass to a panel: the rule of the door, asked before the panel is, and after it. */

import type { Core } from '../../core/core.ts';
import {
  ANY_HWID,
  AT_DOOR,
  admitDevice,
  admitNewKey,
  type DeviceCall,
  judgeDevice,
  type RefusedAtDoor,
  verdictOn,
} from '../../core/door.ts';
import { keyIn, type Path } from '../../core/key-path.ts';
import { isRefused, type Refused } from '../../core/outcome.ts';
import type { EnteredLink } from '../../core/port/install.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import type { DeviceWords } from '../endpoints/app.ts';
import { type Query, REPEATED, valueIn } from '../request/query.ts';
import type { Obstacle, Outcome } from './answers.ts';
import type { Panel } from './panels.ts';
import type { GateReason } from './settings.ts';

/** A request for a panel, as far as it says who may pass. */
interface Visit extends DeviceWords {
  path: Path;
  /** Its parameters, with their names in lower case. */
  query: Query;
  /** The header `Accept`. */
  accepts: string;
  /** False for a request that only looks. */
  takesSlot: boolean;
  limitLinks: LinkLimit;
}

/**
 * Runs `make` if the client has not reached its limit of new links, and counts it if its outcome is
 * `isMade`. Null: the limit is reached, and nothing ran.
 */
export type LinkLimit = <T>(
  make: () => Promise<T>,
  isMade: (outcome: T) => boolean,
) => Promise<T | null>;

/** A refusal in the words that people read. */
export interface Denied {
  reason: GateReason;
  /** The name under which it is counted, if it is another. */
  outcome?: Outcome;
  isGuess?: boolean;
}

/** Leave to ask the panel. */
export interface Passage {
  /**
   * Takes the slot once the panel has answered, and makes the link of a new key; returns a refusal
   * that has come up since. Null: the request takes none.
   */
  admit: (() => Promise<Denied | Obstacle | null>) | null;
  /** True for a device that has its slot already: it is seen, whatever the panel has for it. */
  holdsSlot: boolean;
  /** True for a key or code that no link has: it is a guess if the panel knows none either. */
  isNewKey: boolean;
  /** True for a path without a key that is not listed: a guess if the panel has nothing there. */
  isOtherPath: boolean;
  /** True if the answer may be a page and nothing else. */
  isForPage: boolean;
  /** True if the answer is for every client. */
  isForAll: boolean;
}

const JUDGED: Passage = {
  admit: null,
  holdsSlot: false,
  isNewKey: false,
  isOtherPath: false,
  isForPage: false,
  isForAll: false,
};
export const FREELY: Passage = { ...JUDGED, isForAll: true };
const BY_OTHER_PATH: Passage = { ...FREELY, isOtherPath: true };
const FOR_PAGE: Passage = { ...JUDGED, isForPage: true };
/** Shorter keys would be half told by their beginning. */
const TELLING_LENGTH_MIN = 12;

/**
 * Judges a request. The link is that of the key in the path, whatever `installid` says: whoever has
 * any code of the provider would open every subscription else. `installid` names it where the path
 * has no key, or one that no link has.
 */
export async function passageOf(
  core: Core,
  { upstream, hash: domainHash }: Panel,
  { path, query, hwid, facts, accepts, takesSlot, limitLinks }: Visit,
  nowMs: number,
): Promise<Passage | Denied> {
  const key = keyIn(upstream.keyPaths, path);
  const code = valueIn(query, 'installid');
  if (isRefused(key) || code === REPEATED) return { reason: 'link_not_found' };
  if (key === null && !code) {
    return upstream.otherPaths === 'pass' ? BY_OTHER_PATH : { reason: 'link_not_found' };
  }
  const isBrowser = hwid === null && /\btext\/html\b/i.test(accepts);
  const at = { domainHash, hwid, providerCode: upstream.provider };
  if (isBrowser && upstream.browsers === 'pass') {
    const somebody = { ...at, hwid: ANY_HWID };
    const keyed = key === null ? [] : [{ ...somebody, installCode: null, subscriptionKey: key }];
    return forPage(core, [...keyed, { ...somebody, installCode: code ?? null }], nowMs);
  }
  const grant = (admit: () => Maybe<Admission | Obstacle>): Passage => ({
    ...JUDGED,
    admit: takesSlot ? async () => denialIn(await admit()) : null,
  });
  if (key !== null) {
    const call = { ...at, installCode: null, subscriptionKey: key };
    const judged = await judgeDevice(core, call, nowMs);
    if (judged !== AT_DOOR.link_not_found) {
      if (isRefused(judged)) return denied(judged);
      const { holdsSlot } = judged;
      return { ...grant(() => admitDevice(core, call, facts, nowMs)), holdsSlot };
    }
    const terms = { installLimit: upstream.defaultLimit, note: noteOf(upstream.host, key) };
    // Who may make up keys that the panel takes would fill the provider's links.
    if (!code) {
      const make = () => admitNewKey(core, call, terms, facts, nowMs);
      const passage = grant(
        async () => (await limitLinks<Admission>(make, isMade)) ?? 'new_link_limit_reached',
      );
      return { ...passage, isNewKey: true };
    }
  }
  const call = { ...at, installCode: code ?? null };
  const judged = await judgeDevice(core, call, nowMs);
  if (isRefused(judged)) return { ...denied(judged), isGuess: judged.says === 'link_not_found' };
  const { holdsSlot } = judged;
  return { ...grant(() => admitDevice(core, call, facts, nowMs)), holdsSlot };
}

/** A page has no slot; but a link that is shut is so for it too. The first that is there counts. */
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

type Admission = EnteredLink | RefusedAtDoor | Refused<'install_code_limit_reached'>;

/** Tells whether a link was made: only that counts against the limit of an address. */
function isMade(admission: Admission): boolean {
  return !isRefused(admission) && admission.isNew === true;
}

function denialIn(admission: Admission | Obstacle): Denied | Obstacle | null {
  if (typeof admission === 'string') return admission;
  return isRefused(admission) ? denied(admission) : null;
}

function denied({ says, reason }: RefusedAtDoor | Refused<'install_code_limit_reached'>): Denied {
  if (says === 'install_code_limit_reached') return { reason: 'link_not_found', outcome: says };
  return { reason: says, ...(reason && { outcome: reason }) };
}

/** The note of a link that is made: enough of the key to tell links apart, too little to use. */
function noteOf(host: string, key: string): string {
  const characters = [...key];
  const isLong = characters.length >= TELLING_LENGTH_MIN;
  const beginning = isLong ? ` ${characters.slice(0, 4).join('')}…` : '';
  return `${host}${beginning}`;
}
