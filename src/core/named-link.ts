/**
 * The link that a subscription request names, for the gate and the proxy:
 *
 * | The path has | `installid` names | The request is for |
 * |---|---|---|
 * | the key of a link | | the link of the key |
 * | a key that is the code of a link without a key | | with `codesAsKeys` that link |
 * | a key without a link, or no key | a link | the link of the code |
 * | a token that its panel no longer takes | | no link |
 *
 * With the code first, a code of the provider would open every subscription, because panels read
 * the key alone. To an app without a HWID an unknown link is `hwid_required`, because the app must
 * not learn whether the link exists.
 */

import type { Core } from './core.ts';
import { type DeviceCall, judgeDevice } from './door.ts';
import { AT_DOOR, type RefusedAtDoor } from './door-refusals.ts';
import { readInstallCode } from './formats.ts';
import { callOfKey } from './former-key.ts';
import type { KeyInPath } from './key-path.ts';
import { isRefused, Refused } from './outcome.ts';
import { isOutdated } from './outdated-token.ts';
import type { DeviceFacts } from './port/device.ts';
import { after, type Maybe } from './port/maybe.ts';
import { type GateCall, namesLink, PASSES, settleHwid } from './without-hwid.ts';

export interface NamedRequest {
  device: Omit<GateCall, 'installCode' | 'subscriptionKey'>;
  facts: DeviceFacts;
  /** The key in the path; null: there is none. */
  key: KeyInPath | null;
  /** The value of `installid`; null: there is none. */
  code: string | null;
  /** True: a key that no link has may be the code of a link without a key. */
  codesAsKeys: boolean;
  /** False for HEAD, which changes nothing. */
  mayJoin: boolean;
  /** False for a browser, for which the policy about apps without a HWID is not meant. */
  isApp: boolean;
  /** True if it matters whether a refused request names a link. */
  isQuiet: boolean;
}

/** A request for a link that takes the device. */
interface Decided<T> {
  call: DeviceCall;
  /** The key by which the link was found, in the link's spelling; null: the code. */
  key: KeyInPath | null;
  /** The code by which it was found; null: the key. */
  code: string | null;
  /** {@link PASSES}, or the answer of the door. */
  outcome: T;
}

export interface Denied {
  refused: RefusedAtDoor;
  /** The key by which the link was found; null: the code, or no link was found. */
  key: KeyInPath | null;
  /** True if it reveals to a guesser that there is no such link. */
  isGuess: boolean;
  /** True if the request names no link, or must not learn that it names one. */
  isUnnamed: boolean;
}

/** The refusal of a token that the panel does not take: no code may name another link. */
export const FORGED = new Refused('link_not_found');

/** Denies a request by the refusal of a link, or for want of one. */
export const denied = (refused: RefusedAtDoor, isGuess = false): Denied => ({
  refused,
  key: null,
  isGuess,
  isUnnamed: refused.says === 'link_not_found',
});
/** The refusal of a request that names no link and guesses at none. */
export const NOT_FOUND: Denied = denied(AT_DOOR.link_not_found);
/** The refusal of a device whose headers have no HWID, before a link was looked for. */
export const WITHOUT_HWID: Denied = { ...denied(AT_DOOR.hwid_required), isUnnamed: true };
const UNKNOWN = denied(AT_DOOR.link_not_found, true);
const UNKNOWN_HIDDEN = denied(AT_DOOR.hwid_required, true);

/** Returns the refusal of an unknown link, to a device with this HWID. */
export const unknownTo = (hwid: string | null): Denied =>
  hwid === null ? UNKNOWN_HIDDEN : UNKNOWN;

/** Returns whether the path has a token from before its user was made. */
export function isOfFormerUser(
  core: Core,
  { device, key }: Pick<NamedRequest, 'device' | 'key'>,
  nowMs: number,
): Maybe<boolean> {
  if (key?.token === undefined || !key.isProven) return false;
  const call = { ...device, installCode: null, subscriptionKey: key.key };
  return isOutdated(core, call, key.token.signedAtMs, nowMs);
}

/**
 * Returns the key of a request if it is the code of a link of the provider without a key; null: it
 * is not, or the codes of the upstream are no keys. The link of a key wins: ask for that first.
 */
export function codeAsKey(
  { store }: Core,
  { codesAsKeys, device, key }: Pick<NamedRequest, 'codesAsKeys' | 'device' | 'key'>,
): Maybe<string | null> {
  if (!codesAsKeys || key === null || key.token !== undefined) return null;
  const code = readInstallCode(key.key);
  return after(isRefused(code) ? null : store.findLink(code), (link) => {
    const isIts = link !== null && link.providerCode === device.providerCode;
    return isIts && !link.hasSubscriptionKey ? link.installCode : null;
  });
}

/**
 * Asks `decide` about the link that a request names. An app that may pass without a slot is not
 * asked about: its outcome is {@link PASSES}. Returns null if no link has the names.
 */
export function decideByName<T>(
  core: Core,
  request: NamedRequest,
  nowMs: number,
  decide: (call: DeviceCall, key: KeyInPath | null) => Maybe<T | RefusedAtDoor>,
): Maybe<Decided<T | typeof PASSES> | Denied | null> {
  const { code, device, isApp, isQuiet, key, mayJoin } = request;
  type Found = Decided<T | typeof PASSES> | Denied | null;

  const refuse = (call: GateCall, refused: RefusedAtDoor, key: KeyInPath | null): Maybe<Found> => {
    if (refused === AT_DOOR.link_not_found) return null;
    if (refused === FORGED) return unknownTo(device.hwid);
    const isNamed = !isQuiet || refused.says !== 'hwid_required' || namesLink(core, call, nowMs);
    return after(isNamed, (is) => ({ ...denied(refused), key, ...(!is && { isUnnamed: true }) }));
  };
  const decideFor = (
    call: GateCall,
    key: KeyInPath | null,
    code: string | null = null,
  ): Maybe<Found> =>
    after(
      isApp && call.hwid === null ? settleHwid(core, call, nowMs) : call,
      (settled): Maybe<Found> => {
        if (settled === PASSES) return { call, key, code, outcome: PASSES };
        if (isRefused(settled)) return refuse(call, settled, key);
        return after(decide(settled, key), (outcome) =>
          outcome instanceof Refused
            ? refuse(call, outcome as RefusedAtDoor, key)
            : { call: settled, key, code, outcome: outcome as T },
        );
      },
    );
  const byCode = (named: string | null) =>
    decideFor({ ...device, installCode: named }, null, named);
  const byKeyAsCode = () =>
    after(codeAsKey(core, request), (named) => (named === null ? null : byCode(named)));
  if (key === null) return byCode(code);
  const byKey = () => {
    const named = { ...device, installCode: null, subscriptionKey: key.key };
    const { former } = key;
    const call = former ? callOfKey(core, named, former, mayJoin, nowMs) : named;
    return after(call, (its) =>
      after(
        decideFor(its, { ...key, key: its.subscriptionKey }),
        (found) =>
          found ??
          after(byKeyAsCode(), (asCode) => asCode ?? (code === null ? null : byCode(code))),
      ),
    );
  };
  return after(isOfFormerUser(core, request, nowMs), (is) =>
    is ? unknownTo(device.hwid) : byKey(),
  );
}

/** Asks {@link judgeDevice} about the link that a request names: no device takes a slot. */
export const judgeByName = (core: Core, request: NamedRequest, nowMs: number) =>
  decideByName(core, request, nowMs, (call) => judgeDevice(core, call, nowMs, request.facts));
