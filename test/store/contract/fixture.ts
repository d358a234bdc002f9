/** What the suites of the contract share: a store to ask, and things to put into it. */

import type { DeviceFacts } from '../../../src/core/port/device.ts';
import type { NewLink } from '../../../src/core/port/link.ts';
import type { Page } from '../../../src/core/port/page.ts';
import type { NewProvider, Provider } from '../../../src/core/port/provider.ts';
import type { AdmittedLink, LinkRefusal } from '../../../src/core/port/slot.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { hashKey } from '../../../src/core/secret.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import { FakeClock } from '../../support/clock.ts';
import type { RaceShare } from './race.ts';

export interface OpenedStore {
  store: Store;
  /** Another connection to the same data, as a second process has it. */
  openBeside(): Promise<Store>;
  /** Has processes of their own make their shares of a race at the same time. */
  race(shares: readonly RaceShare[]): Promise<unknown[][]>;
  close(): Promise<void>;
}

/** The tests of one method. `opened` is a fresh, empty store in each test. */
export type Suite = (opened: () => OpenedStore) => void;

/** The clock of every store under test. It stands at `NOW_MS` until a test moves it. */
export const CLOCK = new FakeClock();
export const NOW_MS = CLOCK.nowMs();
export const HASH = 'a'.repeat(64);
export const OTHER_HASH = 'b'.repeat(64);
export const CODE = 'LinkCode0001';
export const OTHER_CODE = 'LinkCode0002';
/** The first page of a list. */
export const ALL: Page = { id: null, beforeId: null, countMax: 5000 };

export const FACTS: DeviceFacts = {
  os: 'android',
  osVersion: '15',
  deviceName: 'Pixel 9',
  appVersion: '2.1.0',
  userAgent: 'App/2.1.0',
};
export const SILENCE: DeviceFacts = {
  os: '',
  osVersion: '',
  deviceName: '',
  appVersion: '',
  userAgent: '',
};

export function providerDraft(code: string, more: Partial<NewProvider> = {}): NewProvider {
  return {
    code,
    keyHash: hashKey(`key of ${code}`),
    name: `name of ${code}`,
    plan: 'basic',
    activeUntilMs: null,
    installCountMax: null,
    createdAtMs: NOW_MS,
    ...more,
  };
}

export async function provider(store: Store, code: string): Promise<Provider> {
  const found = await store.findProvider(code);
  if (found === null) throw new Error(`there is no provider ${code}`);
  return found;
}

export async function addProvider(store: Store, code: string): Promise<Provider> {
  await store.addProvider(providerDraft(code), ACT);
  return provider(store, code);
}

/** Removes a provider to the end; says in how many steps. */
export async function removeProvider(store: Store, code: string): Promise<number> {
  const closed = await store.closeProvider(code, ACT);
  if (typeof closed === 'string') throw new Error(closed);
  for (let steps = 1; ; steps++) {
    const left = await store.removeProvider(closed.id);
    if (left === 'ok') return steps;
    if (left !== 'more' && left !== 'notified') throw new Error(left);
  }
}

export function linkDraft(providerId: number, more: Partial<NewLink> = {}): NewLink {
  return {
    ...NO_TERMS,
    providerId,
    installCode: CODE,
    installLimit: 2,
    note: 'note',
    createdAtMs: NOW_MS,
    installCountMax: 100,
    ...more,
  };
}

export async function addLink(
  store: Store,
  providerId: number,
  more: Partial<NewLink> = {},
): Promise<number> {
  const added = await store.addLink(linkDraft(providerId, more), ACT);
  if (typeof added === 'string') throw new Error(added);
  return added.id;
}

export async function bind(store: Store, providerId: number, domainHash = HASH): Promise<number> {
  const draft = { providerId, domainHash, domainName: 'shop', createdAtMs: NOW_MS };
  const added = await store.addDomain({ ...draft, domainCountMax: 100 }, ACT);
  if (typeof added === 'string') throw new Error(added);
  return added.id;
}

/** A provider with a link and a binding: where devices can knock. */
export async function addDoor(store: Store, code = 'Provide1', installCode = CODE) {
  const { id: providerId } = await addProvider(store, code);
  const installId = await addLink(store, providerId, { installCode });
  const domainId = await bind(store, providerId);
  return { providerId, installId, domainId };
}

export async function knock(
  store: Store,
  hwid: string,
  installCode = CODE,
  facts = FACTS,
  ms = NOW_MS,
) {
  return heard(await store.takeSlot({ installCode, domainHash: HASH, hwid }, facts, ms));
}

/** The word that is said to a device that is turned away; else the link that let it in. */
export function heard<T extends string>(taken: AdmittedLink | LinkRefusal | T) {
  return typeof taken === 'object' && 'says' in taken ? taken.says : taken;
}
