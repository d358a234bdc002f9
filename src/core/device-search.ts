/** Finds the devices of a filter, for a send to them. */

import type { Core } from './core.ts';
import type { MixCursor } from './port/device-mix.ts';
import type { DeviceSearch, SearchedDevice } from './port/device-search.ts';
import type { Provider } from './port/provider.ts';
import { nextTurn } from './turn.ts';

/**
 * The most HWIDs of a send by console or command line: they are stored with the send and written in
 * one step. The API takes at most five. A segment of more devices is a general notification.
 */
export const SEARCHED_HWIDS_MAX = 500;
/** The search that finds all devices. */
export const ANY_DEVICE: DeviceSearch = {
  os: null,
  appVersion: null,
  language: null,
  seenSinceMs: null,
  unseenSinceMs: null,
  domainId: null,
  link: null,
};
/** The most devices that are listed by name. */
const EXAMPLES = 8;
/** The most app versions and languages that are offered for the next search. */
const CHOICES_MAX = 50;

/** The first part of a BCP 47 tag. */
const LANGUAGE = /^[A-Za-z]{2,8}(?=-|$)/;

/** The devices of a filter. */
interface FoundDevices {
  /** True: the search was aborted, and there may be more devices. */
  isPart: boolean;
  count: number;
  examples: Pick<SearchedDevice, 'hwid' | 'deviceName' | 'os'>[];
  /** The versions of the found devices, the most frequent first. */
  appVersions: string[];
  languages: string[];
  systems: string[];
}

/** Counts values, up to a number of different ones. */
class Tally {
  readonly #counts = new Map<string, number>();

  add(value: string): void {
    const count = this.#counts.get(value);
    if (value === '' || (count === undefined && this.#counts.size >= 4 * CHOICES_MAX)) return;
    this.#counts.set(value, (count ?? 0) + 1);
  }

  get most(): string[] {
    const ordered = [...this.#counts].sort(([, one], [, other]) => other - one);
    return ordered.slice(0, CHOICES_MAX).map(([value]) => value);
  }
}

/** Searches all devices of a provider, with turns for other calls, until `signal` aborts. */
export async function findDevices(
  { store }: Core,
  provider: Pick<Provider, 'id'>,
  search: DeviceSearch,
  signal: AbortSignal,
): Promise<FoundDevices> {
  const [versions, languages, systems] = [new Tally(), new Tally(), new Tally()];
  const examples: FoundDevices['examples'] = [];
  let count = 0;
  let after: MixCursor | null = null;
  do {
    const { devices, next } = await store.searchDevices(provider.id, search, after);
    for (const { appVersion, deviceName, hwid, locale, os } of devices) {
      count += 1;
      if (count <= EXAMPLES) examples.push({ hwid, deviceName, os });
      versions.add(appVersion);
      languages.add(LANGUAGE.exec(locale ?? '')?.[0].toLowerCase() ?? '');
      systems.add(os);
    }
    after = next;
    await nextTurn();
  } while (after !== null && !signal.aborted);
  return {
    isPart: after !== null,
    count,
    examples,
    appVersions: versions.most,
    languages: languages.most,
    systems: systems.most,
  };
}
