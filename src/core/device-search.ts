/** The devices that a filter finds, for a send that names them. */

import type { Core } from './core.ts';
import type { MixCursor } from './port/device-mix.ts';
import type { DeviceSearch, SearchedDevice } from './port/device-search.ts';
import type { Provider } from './port/provider.ts';
import { nextTurn } from './turn.ts';

/**
 * Most HWIDs of a send to what a filter found. They are stored with the send and written in one
 * step, so there is a bound; the API takes five.
 */
export const SEARCHED_HWIDS_MAX = 500;
/** Devices that are shown with their names. */
const EXAMPLES = 8;
/** App versions and languages that are offered for the next search. */
const CHOICES_MAX = 50;

/** The first part of a BCP 47 tag. */
const LANGUAGE = /^[A-Za-z]{2,8}(?=-|$)/;

/** What a filter found. */
export interface FoundDevices {
  /** True: the search was broken off, and there may be more. */
  isPart: boolean;
  count: number;
  /** Null: more than {@link SEARCHED_HWIDS_MAX}. */
  hwids: string[] | null;
  examples: Pick<SearchedDevice, 'hwid' | 'deviceName' | 'os'>[];
  /** Of the devices that were found, the most frequent first. */
  appVersions: string[];
  languages: string[];
  systems: string[];
}

/** Counts values, as many different ones as are kept apart. */
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

/** Searches all devices of a provider, with turns for others, until `signal` breaks it off. */
export async function findDevices(
  { store }: Core,
  provider: Pick<Provider, 'id'>,
  search: DeviceSearch,
  signal: AbortSignal,
): Promise<FoundDevices> {
  const [versions, languages, systems] = [new Tally(), new Tally(), new Tally()];
  const hwids: string[] = [];
  const examples: FoundDevices['examples'] = [];
  let count = 0;
  let after: MixCursor | null = null;
  do {
    const { devices, next } = await store.searchDevices(provider.id, search, after);
    for (const { appVersion, deviceName, hwid, locale, os } of devices) {
      count += 1;
      if (count <= SEARCHED_HWIDS_MAX) hwids.push(hwid);
      if (count <= EXAMPLES) examples.push({ hwid, deviceName, os });
      versions.add(appVersion);
      languages.add(LANGUAGE.exec(locale ?? '')?.[0].toLowerCase() ?? '');
      systems.add(os);
    }
    after = next;
    await nextTurn();
  } while (after !== null && !signal.aborted);
  return {
    ...{ isPart: after !== null, count, examples },
    hwids: count > SEARCHED_HWIDS_MAX ? null : hwids,
    appVersions: versions.most,
    languages: languages.most,
    systems: systems.most,
  };
}
