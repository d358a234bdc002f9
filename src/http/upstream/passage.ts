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
import { callOfKey, holdsSlot } from '../../core/former-key.ts';
import { FullLinkRefused } from '../../core/full-link.ts';
import { type KeyInPath, keyIn, type Path } from '../../core/key-path.ts';
import { isRefused, type Refused } from '../../core/outcome.ts';
import { isOutdated } from '../../core/outdated-token.ts';
import { panelOf } from '../../core/panel/kind.ts';
import { oldNameIn } from '../../core/panel/token.ts';
import type { AdmittedDevice } from '../../core/port/install.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import {
  admitNewKeyWithoutHwid,
  namesLink,
  PASSES,
  settleHwid,
  wayOfNewKeys,
} from '../../core/without-hwid.ts';
import type { DeviceHeaders } from '../gate/words.ts';
import { type Query, REPEATED, valueIn } from '../request/query.ts';
import type { Obstacle } from './answers.ts';
import { changesLink, type PanelFollowers } from './panel-followers.ts';
import type { Panel } from './panels.ts';
import {
  BY_OTHER_PATH,
  type Denied,
  FOR_PAGE,
  JUDGED,
  type LinkLimit,
  type Passage,
  unknownTo,
} from './permit.ts';

/** The facts of a request that decide whether it may pass. */
interface Visit extends DeviceHeaders {
  path: Path;
  /** Its parameters, with their names in lower case. */
  query: Query;
  /** The header `Accept`. */
  accepts: string;
  nowMs: number;
  /** False for HEAD. */
  takesSlot: boolean;
  limitLinks: LinkLimit;
  /** Returns the network of the client; null: only that of a proxy is known. */
  address(): string | null;
  /** The secret that signs tokens of the panel; null: the panel proves them. */
  secret: string | null;
  panels: PanelFollowers;
  /** Returns whether the panel serves made-up keys: then no link is made. */
  areStrangersServed(): Promise<boolean>;
  /** Asks the panel for the number of the user in an old token: see `askForUser`. */
  askForUser(named: KeyInPath, name: string): Promise<KeyInPath | Obstacle | null>;
}

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
  const unknown = unknownTo(hwid);
  let named = keyIn({ keyPaths, key: kind, secret, panel: panelOf(panel.upstream) }, path);
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
  const name = { named, code: code ?? null };
  const judge = (atMs: number) => judgeVisit(core, panel, visit, name, atMs);
  const isJudged = named === null || named.isProven;
  if (named?.isProven === true && named.token !== undefined) {
    const call = { ...deviceAt(panel, visit), installCode: null, subscriptionKey: named.key };
    if (await isOutdated(core, call, named.token.signedAtMs, nowMs)) return unknown;
  }
  if (isJudged && oldName === null) return judge(nowMs);
  const opensPage = false;
  if (!isJudged) return { ...unproven(core, panel, visit, name), judge, opensPage };
  const judged = await judge(nowMs);
  return { ...judged, opensPage };
}

/** Makes the passage of a token that only a subscription of the panel proves. */
function unproven(core: Core, panel: Panel, visit: Visit, { named, code }: LinkNames): Passage {
  const { hwid } = visit;
  const { browsers } = panel.upstream;
  const call = { ...deviceAt(panel, visit), installCode: null };
  const calls = [
    ...(named === null ? [] : [{ ...call, subscriptionKey: named.key }]),
    ...(code === null ? [] : [{ ...call, installCode: code }]),
  ];
  const passesUnproven = async () => {
    for (const one of calls) if (await holdsSlot(core, one, visit.nowMs)) return true;
    return false;
  };
  const isPage = isBrowser(visit) && browsers === 'pass';
  return {
    ...JUDGED,
    isShared: hwid === null,
    isNewKey: true,
    unknown: unknownTo(hwid),
    takesSlot: visit.takesSlot && !isPage,
    passesUnproven,
  };
}

/** The names of a link in a request. */
interface LinkNames {
  named: KeyInPath | null;
  code: string | null;
}

/** Browsers send no HWID. */
const isBrowser = ({ hwid, junkHwid, accepts }: Pick<Visit, 'hwid' | 'junkHwid' | 'accepts'>) =>
  hwid === null && junkHwid === null && /\btext\/html\b/i.test(accepts);

const deviceAt = (
  { upstream, hash: domainHash }: Panel,
  { hwid, junkHwid, address }: Pick<Visit, 'hwid' | 'junkHwid' | 'address'>,
) => {
  const { enforce: enforces, provider: providerCode } = upstream;
  return { domainHash, hwid, junkHwid, providerCode, enforces, address };
};

async function judgeVisit(
  core: Core,
  panel: Panel,
  visit: Visit,
  { named: keyed, code }: LinkNames,
  nowMs: number,
): Promise<Passage | Denied> {
  const { upstream } = panel;
  const { hwid, facts, takesSlot, limitLinks, panels } = visit;
  const key = keyed?.key ?? null;
  const isOfBrowser = isBrowser(visit);
  const at = deviceAt(panel, visit);
  let opensPage = false;
  if (isOfBrowser) {
    const visitor = { ...at, hwid: ANY_HWID };
    const keyed = key === null ? [] : [{ ...visitor, installCode: null, subscriptionKey: key }];
    const page = await forPage(core, [...keyed, { ...visitor, installCode: code }], nowMs);
    if (upstream.browsers === 'pass') return page;
    opensPage = page === FOR_PAGE;
  }
  const grant = (
    admit: () => Maybe<Admission | Obstacle>,
    link: AdmittedDevice | null = null,
  ): Passage => {
    if (!takesSlot) return JUDGED;
    return {
      ...JUDGED,
      link,
      isShared: hwid === null,
      takesSlot,
      admit: async () => answerOf(await admit()),
      believesOther: panelOf(upstream) === null,
      unknown: { reason: unknownTo(hwid).reason },
    };
  };
  /** Judges a call; returns null if no link has its name. */
  const judge = async (named: DeviceCall): Promise<Passage | Denied | null> => {
    const call = isOfBrowser ? named : await settleHwid(core, named, nowMs);
    if (call === PASSES) return JUDGED;
    const judged = isRefused(call) ? call : await judgeDevice(core, call, nowMs, facts);
    if (judged === AT_DOOR.link_not_found) return null;
    if (isRefused(judged) || isRefused(call)) {
      const isMute = judged === AT_DOOR.hwid_required;
      const isUnnamed = isMute && !(await namesLink(core, named, nowMs));
      return { ...denied(judged as RefusedAtDoor), opensPage, ...(isUnnamed && { isUnnamed }) };
    }
    const { holdsSlot } = judged;
    return { ...grant(() => admitDevice(core, call, facts, nowMs), judged), holdsSlot };
  };
  if (keyed !== null && key !== null) {
    const { former } = keyed;
    const call = { ...at, installCode: null, subscriptionKey: key };
    const calling =
      former === undefined ? call : await callOfKey(core, call, former, takesSlot, nowMs);
    const first = await judge(calling);
    const linkKey = calling.subscriptionKey ?? key;
    const isChanged = first !== null && (await changesLink(panels, core, upstream, linkKey, first));
    const judged = isChanged ? await judge(calling) : first;
    if (judged !== null) {
      if ('reason' in judged) return judged;
      // The panel proves the spelling that came.
      return { ...judged, key: linkKey === key ? key : null };
    }
    // Limits new links: a client could invent keys that the panel accepts and use up the cap.
    if (!code) {
      const way = hwid === null ? await wayOfNewKeys(core, call, nowMs) : 'count';
      if (way === 'refuse') return unknownTo(null);
      if (await isKeyEnded(core, call)) return denied(AT_DOOR.link_not_found);
      if (way === 'pass') return { ...JUDGED, isNewKey: true };
      const note = noteOf(upstream.host, key);
      const admitNew = hwid === null ? admitNewKeyWithoutHwid : admitNewKey;
      const make = async () => {
        if (await visit.areStrangersServed()) return AT_DOOR.link_not_found;
        const installLimit = (await panels.limits.of(upstream, key)) ?? upstream.defaultLimit;
        return admitNew(core, call, { installLimit, note }, facts, nowMs);
      };
      const passage = grant(
        async () => (await limitLinks<Admission>(make, isMade)) ?? 'new_link_limit_reached',
      );
      return { ...passage, key, isNewKey: true, unknown: unknownTo(hwid) };
    }
  }
  const judged = await judge({ ...at, installCode: code });
  return judged ?? unknownTo(hwid);
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
