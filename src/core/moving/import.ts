/**
 * Imports a provider from another server of the same API, or from a file. Existing records stay
 * unchanged unless `updates` is set, so that an interrupted import can be repeated.
 */

import { actAt } from '../audit/entry.ts';
import type { Core } from '../core.ts';
import { counted } from '../counted.ts';
import { Refused } from '../outcome.ts';
import type { Link } from '../port/link.ts';
import type { ImportedAs, ImportedDomain, ImportedLink } from '../port/moving.ts';
import type { NewProvider, Provider } from '../port/provider.ts';
import type { OwnReminder } from '../port/reminder.ts';
import { isKeyOf } from '../provider.ts';
import { hashKey, randomAuthKey } from '../secret.ts';
import { byRows, past, pastLink } from './fit.ts';
import { type AskSource, Source, type SourceOptions } from './source.ts';
import type { SourceLink } from './source-record.ts';
import type { Tally } from './tally.ts';

interface ImportOptions extends SourceOptions {
  /** True: also reads the HWIDs of links whose count is equal here. */
  rechecks: boolean;
  /** Ids of links to ask for one by one too; null: none. */
  ids: { from: number; to: number } | null;
  /** Most calls in flight. */
  callsMax: number;
  /** Is called after each step. */
  onStep(): void;
}

/** Links to read at a time. */
const PAGE = 5000;
/** Links to ask for and store together: a kill loses at most these. */
const CHUNK = 50;

type Rules = { installCountMax: number; domainCountMax: number; updates: boolean };

/** An imported provider. */
export type Newcomer = NewProvider &
  Pick<Provider, 'suspendedAtMs'> & { reminders?: readonly OwnReminder[] };

/**
 * Adds an imported provider with its key, or with a random one (`hasNewKey`), which it returns. An
 * existing provider is reused unchanged. Refuses `other_key` if that has another key, as its code
 * may belong to another provider; `hasNewKey` skips this check.
 */
export async function settle(
  core: Core,
  newcomer: Newcomer,
  hasNewKey: boolean,
  nowMs: number,
): Promise<{ provider: Provider; newKey: string | null } | Refused<'other_key'>> {
  const { code, reminders = [], suspendedAtMs, ...draft } = newcomer;
  const known = await core.store.findProvider(code);
  if (known !== null) {
    const isGood = isKeyOf(known, newcomer.keyHash, nowMs);
    return isGood || hasNewKey ? { provider: known, newKey: null } : new Refused('other_key');
  }
  const newKey = hasNewKey ? randomAuthKey() : null;
  const keyHash = newKey === null ? newcomer.keyHash : hashKey(newKey);
  const act = actAt(core, nowMs);
  const added = await core.store.addProvider({ ...draft, code, keyHash }, act);
  if (added !== 'ok') return settle(core, newcomer, hasNewKey, nowMs);
  if (suspendedAtMs !== null) await core.store.updateProvider(code, { suspendedAtMs }, act);
  const provider = await core.store.findProvider(code);
  if (provider === null) throw new Error(`provider ${code} was removed meanwhile`);
  // Loaded for the few that have any: the filter of HTML takes long to start.
  const rules = reminders.length > 0 ? await import('../reminder.ts') : null;
  for (const one of reminders) {
    // Off: the other server may go on sending. Texts that lead to no page of the provider stay out.
    await rules?.addReminder(core, provider, { ...one, enabled: 0 }, nowMs);
  }
  return { provider, newKey };
}

/** Stores imported links and bindings of a provider, and counts the outcomes. */
export class Mover {
  readonly #rules: Rules;

  constructor(
    readonly core: Core,
    readonly provider: Provider,
    readonly tally: Tally,
    /** True: existing records take note, name, limit and status of the import. */
    updates: boolean,
    readonly nowMs: () => number,
  ) {
    const installCountMax = provider.installCountMax ?? core.limits.linksPerProviderMax;
    this.#rules = { installCountMax, domainCountMax: core.limits.domainsPerProviderMax, updates };
  }

  /** Most links of the provider. */
  get installCountMax(): number {
    return this.#rules.installCountMax;
  }

  /** Stores links in order, a few rows in each commit, so that other writes run in between. */
  async installs(installs: readonly ImportedLink[]): Promise<void> {
    for (const some of byRows(installs)) await this.#store(some.map((one) => this.#past(one)));
  }

  #past(install: ImportedLink): ImportedLink {
    const past = pastLink(install, this.nowMs());
    if (past !== install) this.tally.mended += 1;
    return past;
  }

  async #store(installs: readonly ImportedLink[]): Promise<void> {
    const { store } = this.core;
    const act = actAt(this.core, this.nowMs());
    const results = await Promise.all(
      installs.map((install) => store.importLink(this.provider.id, install, this.#rules, act)),
    );
    results.forEach((result, n) => {
      const install = installs[n] as ImportedLink;
      const { installCode, id, note, panelUser } = install;
      const link = panelUser === undefined ? `link ${installCode}` : `user ${note ?? panelUser}`;
      this.tally.linksDone += 1;
      if (result === 'install_code_exists') {
        this.tally.codesTaken += 1;
        const isOfPanel = panelUser !== undefined;
        const whose = isOfPanel
          ? 'another user has its subscription key'
          : 'another provider has the code';
        this.tally.problem(`${link}: ${whose}`);
        return;
      }
      if (result === 'install_code_ended') {
        this.tally.codesEnded += 1;
        this.tally.problem(`${link}: it was removed or revoked here`);
        return;
      }
      if (result === 'install_code_limit_reached') {
        this.tally.overCap += 1;
        this.tally.problem(`${link}: beyond the provider's cap of links`);
        return;
      }
      this.#count('links', `${link}: limit, status or note differ`, id, result);
      this.tally.slots.added += result.slotsAdded;
      this.tally.slots.present += result.slotsPresent;
      this.tally.slots.withoutRoom += result.slotsWithoutRoom;
      if (result.slotsWithoutRoom > 0) {
        this.tally.problem(`${link}: full, ${counted(result.slotsWithoutRoom, 'HWID')} left out`);
      }
    });
  }

  /** Counts the outcome of a record; `difference` is the problem of one that differs. */
  #count(
    kind: 'links' | 'domains',
    difference: string,
    wantedId: number | null,
    { was, id }: { was: ImportedAs; id: number },
  ): void {
    this.tally[kind][was] += 1;
    if (was === 'added' && id !== wantedId) this.tally.newIds += 1;
    if (was === 'different') this.tally.problem(`${difference} here and stay`);
  }

  /** Stores bindings in one commit. */
  async domains(listed: readonly ImportedDomain[]): Promise<void> {
    const { store } = this.core;
    const nowMs = this.nowMs();
    const act = actAt(this.core, nowMs);
    const domains = listed.map((domain) => {
      const createdAtMs = past(domain.createdAtMs, nowMs);
      if (createdAtMs === domain.createdAtMs) return domain;
      this.tally.mended += 1;
      return { ...domain, createdAtMs };
    });
    const results = await Promise.all(
      domains.map((domain) => store.importDomain(this.provider.id, domain, this.#rules, act)),
    );
    results.forEach((result, n) => {
      const domain = domains[n] as ImportedDomain;
      const hash = domain.domainHash.slice(0, 10);
      if (result === 'domain_limit_reached') {
        this.tally.domainsOverCap += 1;
        this.tally.problem(`domain ${hash}: beyond the cap of domains`);
        return;
      }
      this.#count('domains', `domain ${hash}: name or status differ`, domain.id, result);
    });
  }
}

/**
 * Imports the bindings of a provider, then its links with their HWIDs, oldest first, so that lists
 * keep their order although ids may change. Throws the faults of `ask`; records that were stored
 * before stay.
 */
export async function importFromSource(
  mover: Mover,
  ask: AskSource,
  options: ImportOptions,
): Promise<void> {
  const { tally, core } = mover;
  const source = new Source(ask, tally, options);
  const domains = await source.domains();
  const installs = await source.installs(mover.installCountMax);
  tally.linksListed = installs.length;
  options.onStep();
  if (options.isStopped()) return;
  await core.store.reserveIds({ installId: highestId(installs), domainId: highestId(domains) });
  for (const chunk of chunksOf(domains)) await mover.domains(chunk);

  const here = await linksHere(mover);
  for (const chunk of chunksOf(installs)) {
    if (options.isStopped()) return;
    await bringLinks(mover, source, chunk, here, options);
  }
  if (options.ids !== null) await bringSingly(mover, source, here, options.ids, options);
  if (!options.isStopped()) tally.distributionsWaiting = await source.distributionsWaiting();
}

/** Imports links with ids in a range, one by one, the highest first. */
async function bringSingly(
  mover: Mover,
  source: Source,
  here: ReadonlyMap<string, Link>,
  { from, to }: { from: number; to: number },
  options: ImportOptions,
): Promise<void> {
  const idsHere = new Set([...here.values()].map(({ id }) => id));
  for (let next = to; next >= from && !options.isStopped(); ) {
    const ids: number[] = [];
    for (; next >= from && ids.length < CHUNK; next--) {
      if (options.rechecks || !idsHere.has(next)) ids.push(next);
    }
    const found = (await mapSome(ids, options.callsMax, (id) => source.install(id))).flat();
    mover.tally.linksListed += found.length;
    await bringLinks(mover, source, found, here, options);
  }
}

async function bringLinks(
  mover: Mover,
  source: Source,
  installs: readonly SourceLink[],
  here: ReadonlyMap<string, Link>,
  options: ImportOptions,
): Promise<void> {
  const { tally } = mover;
  const whole = await mapSome(installs, options.callsMax, async (install) => {
    const known = here.get(install.installCode);
    const isCountSame = known?.deviceCount === install.installCount && !options.rechecks;
    if (known && isCountSame && isSame(known, install)) return 'same';
    if (install.installCount === 0 || isCountSame) return { ...install, slots: [] };
    const slots = await source.slots(install.installCode);
    return typeof slots === 'string' ? slots : { ...install, slots };
  });
  whole.forEach((got, n) => {
    if (got === 'vanished' || got === 'refused') {
      tally[got] += 1;
      tally.linksDone += 1;
    } else if (got === 'same') {
      tally.links.present += 1;
      tally.linksDone += 1;
    }
    // The counts are equal, so the HWIDs were not read: they are present.
    const known = here.get(installs[n]?.installCode ?? '');
    if (got === 'same' || (typeof got === 'object' && got.slots.length === 0)) {
      tally.slots.present += known?.deviceCount ?? 0;
    }
  });
  await mover.installs(whole.filter((got) => typeof got === 'object'));
  options.onStep();
}

function isSame(known: Link, { installLimit, status, note }: SourceLink): boolean {
  return known.installLimit === installLimit && known.status === status && known.note === note;
}

/** Lists the provider's existing links by code. */
async function linksHere({ core, provider }: Mover): Promise<Map<string, Link>> {
  const here = new Map<string, Link>();
  for (let beforeId: number | null = null; ; ) {
    const page: Link[] = await core.store.listLinksOf(provider.id, {
      id: null,
      beforeId,
      countMax: PAGE,
    });
    for (const install of page) here.set(install.installCode, install);
    const last = page.at(-1);
    if (last === undefined) return here;
    beforeId = last.id;
  }
}

function highestId(records: readonly { id: number | null }[]): number {
  return records.reduce((highest, { id }) => Math.max(highest, id ?? 0), 0);
}

function* chunksOf<T>(items: readonly T[]): Generator<T[]> {
  for (let at = 0; at < items.length; at += CHUNK) yield items.slice(at, at + CHUNK);
}

/** Maps in order with at most `callsMax` calls in flight. */
async function mapSome<T, R>(
  items: readonly T[],
  callsMax: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lanes = Array.from({ length: Math.min(callsMax, items.length) }, async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await map(items[at] as T);
    }
  });
  await Promise.all(lanes);
  return results;
}
