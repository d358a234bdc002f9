/**
 * HWIDs that a provider names for a link before they come. A named HWID counts as a device of the
 * link, and nothing but its provider frees it. It is no device until it comes to the link by
 * itself: no message, push, count of devices or search for devices has it, and naming it reads
 * nothing about it. Then it is a slot as any, that begins at that moment.
 */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { readOwnHwid } from './formats.ts';
import { isRefused, type Misfit, malformed, Refused } from './outcome.ts';
import type { LinkSelector } from './port/link.ts';
import type { NamedHwids } from './port/named-hwid.ts';
import type { Provider } from './port/provider.ts';

/** The most HWIDs of a call: no link holds more. */
export const NAMED_PER_CALL = 100;

/** The most named HWIDs of a provider that have not come. */
const NAMED_PER_PROVIDER = 10_000;

/** Reads a HWID that may be named: one that a device sends, and not one that the gate makes. */
export function readNamedHwid(value: unknown): string | Misfit {
  const hwid = readOwnHwid(value);
  if (isRefused(hwid)) return hwid;
  return hwid.includes('~') ? malformed('a HWID with ~ cannot be named') : hwid;
}

/** Reads a list of HWIDs to name; one that comes twice counts once. */
function readNamedHwids(values: readonly unknown[]): string[] | Misfit {
  const hwids = new Set<string>();
  for (const value of values) {
    const hwid = readNamedHwid(value);
    if (isRefused(hwid)) return hwid;
    hwids.add(hwid);
    if (hwids.size > NAMED_PER_CALL) return malformed(`more than ${NAMED_PER_CALL} HWIDs`);
  }
  return hwids.size === 0 ? malformed('no HWID is given') : [...hwids];
}

/**
 * Names HWIDs for a link, all or none. HWIDs that are on the link are no refusal, so that a call
 * can be repeated. Refuses `install_code_error` if the provider has no such link, `malformed` for a
 * HWID that cannot be named, `hwids_no_room` if the link has no room for all of them, and
 * `hwids_too_many` beyond {@link NAMED_PER_PROVIDER}.
 */
export async function nameHwids(
  core: Core,
  provider: Pick<Provider, 'id'>,
  selector: LinkSelector,
  given: readonly unknown[],
  nowMs: number,
): Promise<
  NamedHwids | Misfit | Refused<'install_code_error' | 'hwids_no_room' | 'hwids_too_many'>
> {
  const hwids = readNamedHwids(given);
  if (isRefused(hwids)) return hwids;
  const act = actAt(core, nowMs);
  const named = await core.store.nameHwids(provider.id, selector, hwids, NAMED_PER_PROVIDER, act);
  if (named === 'link_full') return new Refused('hwids_no_room');
  if (named === 'named_limit') return new Refused('hwids_too_many');
  return typeof named === 'string' ? new Refused(named) : named;
}
